//! The tiles of an arrangement, which the mouse moves.

use egui::{Id, Ui};
use egui_tiles::{Container, Tile, TileId, Tiles, Tree};

use super::{Arrangement, Contents, Pane, tiles::Behavior, tree};

/// Tiles that follow an arrangement, and an arrangement that follows the tiles.
pub struct Board {
    tree: Tree<Pane>,
    /// What the tree is of.
    arrangement: Arrangement,
    /// Whether the mouse has changed the tree since then.
    is_edited: bool,
}

impl Default for Board {
    fn default() -> Self {
        Self::of(&Arrangement::default())
    }
}

impl Board {
    fn of(arrangement: &Arrangement) -> Self {
        let mut tiles = Tiles::default();
        let root = tree::insert(&mut tiles, arrangement);
        let tree = Tree::new(Id::unique("panes"), root, tiles);
        Self { tree, arrangement: arrangement.clone(), is_edited: false }
    }

    /// Shows the panes of `arrangement`, and changes it as the mouse does.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        arrangement: &mut Arrangement,
        contents: &mut dyn Contents,
    ) {
        if self.arrangement != *arrangement {
            *self = Self::of(arrangement);
        }
        let hidden: Vec<(TileId, bool)> = self
            .tree
            .tiles
            .iter()
            .filter_map(|(id, tile)| match tile {
                Tile::Pane(pane) => Some((*id, contents.is_there(*pane))),
                Tile::Container(_) => None,
            })
            .collect();
        hidden.into_iter().for_each(|(id, is_there)| self.tree.set_visible(id, is_there));
        let views = self
            .tree
            .tiles
            .iter()
            .filter_map(|(id, tile)| matches!(tile, Tile::Pane(Pane::View(_))).then_some(*id));
        let views = views.collect();
        let alone = self.tree.tiles.tiles().filter_map(|tile| match tile {
            Tile::Container(Container::Tabs(tabs)) if tabs.children.len() == 1 => {
                tabs.children.first().copied()
            }
            Tile::Container(_) | Tile::Pane(_) => None,
        });
        let alone = alone.collect();
        let mut behavior = Behavior { contents, views, alone, edited: false, closed: None };
        self.tree.ui(&mut behavior, ui);
        let closed = behavior.closed;
        self.is_edited |= behavior.edited;
        if self.is_edited
            && self.tree.dragged_id(ui.ctx()).is_none()
            && let Some(now) = self.read()
        {
            // The tree keeps its tiles, and with them what they remember.
            (self.arrangement, *arrangement) = (now.clone(), now);
            self.is_edited = false;
        }
        if let Some(pane) = closed {
            arrangement.hide(pane);
        }
    }

    /// The arrangement of the tiles.
    fn read(&self) -> Option<Arrangement> {
        Some(tree::arrangement(&self.tree.tiles, self.tree.root()?)?.sane())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::panes::{Edge, Slot};

    #[test]
    fn tiles_have_the_arrangement_that_they_are_made_of() {
        let mut wanted = Arrangement::default();
        for pane in [Pane::View(Slot(1)), Pane::Console] {
            wanted.show(pane);
        }
        wanted.put_at(Pane::Timings, Edge::Top);
        let wanted = wanted.sane();
        assert_eq!(Board::of(&wanted).read(), Some(wanted));
    }
}
