//! What the compiler is asked to do for a scene.

use std::collections::BTreeSet;

use super::{
    included::{include_dirs, reach},
    layout, stat,
};
use crate::{
    array::{Checksum, Summary, Values},
    compile::{Header, Request, Target},
    cuda,
    scene::{self, Plan, Scene},
};

/// What the compiler is asked to do for a scene, and for its kernels if they bind as `plan` says.
pub(super) fn request(scene: &Scene, target: Target, plan: Option<&Plan>) -> Request {
    let probes = plan.map_or_else(String::new, |plan| layout::probes(scene, plan));
    let stats = [stat::kernels(scene), stat::library(scene)].concat();
    let source = [&*scene.source, &probes, &stats].concat();
    let mut request = Request::new(&*scene.name, source, target);
    request.path = scene.path.clone().filter(|path| path.as_os_str() != &*scene.name);
    request.prelude = scene.prelude();
    request.headers = cuda::headers()
        .iter()
        .map(|header| Header { name: header.name.to_owned(), text: header.text.to_owned() })
        .collect();
    request.include_dirs = include_dirs(scene);
    request.options = scene.manifest.compile.arguments();
    request.name_expressions = plan.map_or_else(Vec::new, Plan::name_expressions);
    request.reach = reach(scene);
    request
}

/// What the built-in scenes ask the compiler for, statistics included: the seed of its cache is made from these.
pub fn requests_of_built_ins(target: Target) -> Vec<Request> {
    let overrides =
        scene::Overrides { cpu: Some(target == Target::CPU), ..scene::Overrides::default() };
    let mut requests = Vec::new();
    for built_in in scene::built_ins() {
        let name = format!("{}.cu", built_in.name);
        let Ok(scene) = Scene::parse(&name, built_in.source, &overrides) else {
            continue;
        };
        requests.push(request(&scene, target, scene.plan().ok().as_ref()));
        requests.push(Summary::request_of_values(values_of(&scene), target));
    }
    requests.push(Checksum::request(target));
    requests
}

/// What statistics read the resources of a scene as.
pub(super) fn values_of(scene: &Scene) -> BTreeSet<Values> {
    let resources = scene.manifest.resources().iter();
    resources.flat_map(|resource| Values::of(&resource.of())).collect()
}
