//! What the start page offers: the built-in scenes in groups, templates, and what each looks like.

use std::{collections::HashMap, path::PathBuf};

use egui::{Context, TextureHandle, TextureOptions};

use super::{thumbnails::Thumbnails, wake::Wake};
use crate::scene::{Overrides, Scene, built_ins, templates};

/// The groups, and the built-in scenes of each with the number of steps after which it is worth a look.
const GROUPS: [(&str, &[(&str, u32)]); 4] = [
    ("Particles", &[("particles", 30), ("nbody", 8), ("spheres", 200), ("boids", 10)]),
    ("Fluids", &[("fluid", 30), ("karman", 150), ("smoke", 20), ("ocean", 30)]),
    ("Patterns", &[("gray-scott", 250), ("life", 50), ("ising", 50), ("mandelbrot", 2)]),
    ("Waves and random fields", &[("wave", 40), ("noise", 20), ("gaussian-field", 20)]),
];

/// The steps of a template.
const TEMPLATE_STEPS: u32 = 40;

/// A scene to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is opened by.
    pub name: &'static str,
    /// What it calls itself.
    pub title: String,
    /// What it says of itself.
    pub summary: String,
}

/// Scenes that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they are.
    pub title: &'static str,
    /// They.
    pub entries: Vec<Entry>,
}

/// All of them.
pub struct Gallery {
    /// The built-in scenes.
    pub groups: Vec<Group>,
    /// Scenes to begin with.
    pub templates: Vec<Entry>,
    thumbnails: Option<Thumbnails>,
    pictures: HashMap<String, TextureHandle>,
}

impl Default for Gallery {
    fn default() -> Self {
        let find = |name: &&str| built_ins().iter().find(|scene| scene.name == *name);
        let group = |(title, names): &(&'static str, &[(&str, u32)])| Group {
            title,
            entries: names
                .iter()
                .filter_map(|(name, _)| find(name))
                .map(|scene| entry(scene.name, scene.source))
                .collect(),
        };
        Self {
            groups: GROUPS.iter().map(group).collect(),
            templates: templates().iter().map(|of| entry(of.name, of.source)).collect(),
            thumbnails: None,
            pictures: HashMap::new(),
        }
    }
}

fn entry(name: &'static str, source: &str) -> Entry {
    let manifest = Scene::parse(name, source, &Overrides::default()).map(|scene| scene.manifest);
    let (title, summary) = manifest.map_or_else(
        |_| (name.to_owned(), String::new()),
        |manifest| (manifest.title, manifest.summary),
    );
    Entry { name, title, summary }
}

impl Gallery {
    /// Begins to make the pictures that are not in the folder yet, on a thread.
    pub fn make_pictures(&mut self, folder: PathBuf, wake: Wake) {
        if self.thumbnails.is_none() {
            let scenes = GROUPS.iter().flat_map(|(_, scenes)| scenes.iter());
            let scenes = scenes.filter_map(|(name, steps)| {
                let scene = built_ins().iter().find(|scene| scene.name == *name)?;
                Some((picture_name(name, false), scene.source, *steps))
            });
            let begun = templates()
                .iter()
                .map(|of| (picture_name(of.name, true), of.source, TEMPLATE_STEPS));
            self.thumbnails = Some(Thumbnails::make(folder, begun.chain(scenes).collect(), wake));
        }
    }

    /// Takes the pictures that have come.
    pub fn take_pictures(&mut self, context: &Context) {
        let made = self.thumbnails.iter().flat_map(Thumbnails::take);
        for (name, image) in made {
            let texture = context.load_texture(&name, image, TextureOptions::LINEAR);
            self.pictures.insert(name, texture);
        }
    }

    /// The scenes that have all words of what is searched, by their groups; where something is searched, all in one
    /// group, those first whose titles have most of the words.
    pub fn found(&self, words: &str) -> Vec<(&'static str, Vec<&Entry>)> {
        let is_found = |entry: &&Entry| entry.has(words);
        let groups = self.groups.iter();
        let mut found: Vec<(&'static str, Vec<&Entry>)> = match words.trim().is_empty() {
            true => groups.map(|group| (group.title, group.entries.iter().collect())).collect(),
            false => {
                let entries = groups.flat_map(|group| &group.entries);
                let mut found: Vec<&Entry> = entries.filter(is_found).collect();
                found.sort_by_key(|entry| std::cmp::Reverse(entry.in_title(words)));
                vec![("Found", found)]
            }
        };
        found.retain(|(_, entries)| !entries.is_empty());
        found
    }

    /// What a scene looks like, as far as that is known.
    pub fn picture(&self, name: &str, is_template: bool) -> Option<&TextureHandle> {
        self.pictures.get(&picture_name(name, is_template))
    }
}

fn picture_name(name: &str, is_template: bool) -> String {
    if is_template { format!("template-{name}") } else { name.to_owned() }
}

impl Entry {
    /// How many of the words the title has.
    fn in_title(&self, words: &str) -> usize {
        let title = self.title.to_lowercase();
        words.to_lowercase().split_whitespace().filter(|word| title.contains(word)).count()
    }

    /// Whether it has all words of what is searched.
    pub fn has(&self, words: &str) -> bool {
        let text = format!("{} {} {}", self.name, self.title, self.summary).to_lowercase();
        words.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_scene_is_in_one_group_and_says_what_it_is() {
        let gallery = Gallery::default();
        let mut names: Vec<_> = gallery
            .groups
            .iter()
            .flat_map(|group| &group.entries)
            .map(|entry| entry.name)
            .collect();
        let mut all: Vec<_> = built_ins().iter().map(|scene| scene.name).collect();
        names.sort_unstable();
        all.sort_unstable();
        assert_eq!(names, all);
        let entries = gallery.groups.iter().flat_map(|group| &group.entries);
        for entry in entries.chain(&gallery.templates) {
            assert!(!entry.title.is_empty() && !entry.summary.is_empty(), "{entry:?}");
            assert_ne!(entry.title, entry.name, "it has no manifest");
        }
    }

    #[test]
    fn all_words_are_searched_for() {
        let entry =
            Entry { name: "smoke", title: "Smoke".into(), summary: "Warm air rises".into() };
        assert!(entry.has("AIR smo") && entry.has("") && !entry.has("air water"));
    }
}
