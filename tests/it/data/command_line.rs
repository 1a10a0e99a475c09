//! `--load`, and what a scene from a stranger may read.

use std::{fs, path::Path, process::Command};

use ndarray::{Array1, ArrayD};
use ndarray_npy::{read_npy, write_npy};

use crate::support::Workplace;

const SCENE: &str = "/*---
[array.a]
type  = \"float\"
count = 3
file  = \"a.npy\"
[array.out]
type  = \"float\"
count = 4
[variable.scale]
type  = \"float\"
value = 2
[[pass]]
kernel = \"multiply\"
over   = \"a\"
---*/
__constant__ float scale;
__global__ void multiply(const float *a, float *out, int a_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a_count) out[i] = scale * a[i];
}
";

fn save(path: &Path, numbers: &[f32]) {
    write_npy(path, &Array1::from(numbers.to_vec())).unwrap();
}

/// A folder `scenes` with a scene and its data, beside a folder `elsewhere`.
fn place() -> Workplace {
    let place = Workplace::new();
    for folder in ["scenes/sub", "elsewhere"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.file("scenes/scene.cu", SCENE);
    save(&place.path("scenes/a.npy"), &[1.0, 2.0, 3.0]);
    save(&place.path("scenes/sub/a.npy"), &[4.0, 5.0, 6.0]);
    save(&place.path("elsewhere/a.npy"), &[7.0, 8.0, 9.0]);
    save(&place.path("elsewhere/scale.npy"), &[10.0]);
    place
}

fn render(place: &Workplace, arguments: &[&str]) -> Vec<f32> {
    let command = ["render", "scenes/scene.cu", "--device", "cpu", "--npy", "out=out.npy"];
    place.run(&[&command[..], arguments].concat()).expect(0, &[]);
    let array: ArrayD<f32> = read_npy(place.path("out.npy")).unwrap();
    array.iter().take(3).copied().collect()
}

#[test]
fn the_command_line_loads_what_it_wants_from_anywhere() {
    let place = place();
    assert_eq!(render(&place, &[]), [2.0, 4.0, 6.0]);
    assert_eq!(render(&place, &["--load", "a=elsewhere/a.npy"]), [14.0, 16.0, 18.0]);
    assert_eq!(
        render(&place, &["--load", "a=elsewhere/a.npy", "--json", "run.json"]),
        [14.0, 16.0, 18.0]
    );
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("run.json")).unwrap()).unwrap();
    assert_eq!(report["loads"], serde_json::json!({ "a": "elsewhere/a.npy" }));
    let both = ["--load", "a=elsewhere/a.npy", "--load", "scale=elsewhere/scale.npy"];
    assert_eq!(render(&place, &both), [70.0, 80.0, 90.0]);
    // The manifest need not name a file for what the command line loads.
    place.file(
        "scenes/scene.cu",
        &SCENE.replace("file  = \"a.npy\"\n", "").replace("value = 2\n", ""),
    );
    assert_eq!(render(&place, &both), [70.0, 80.0, 90.0]);
    for command in ["test", "bench"] {
        let steps = ["scenes/scene.cu", "--device", "cpu", "--steps", "2"];
        place.run(&[&[command], &steps[..], &both[..]].concat()).expect(0, &[]);
    }
}

#[test]
fn what_is_wrong_with_it_names_the_option() {
    let place = place();
    for (load, told) in [
        (
            "b=elsewhere/a.npy",
            "scenes/scene.cu: error: --load b: the scene has no such resource or variable; known",
        ),
        (
            "scales=elsewhere/a.npy",
            "--load scales: the scene has no such resource or variable; did you mean `scale`",
        ),
        (
            "a=nowhere.npy",
            "scenes/scene.cu: error: --load a=nowhere.npy: cannot read nowhere.npy: No such file",
        ),
        ("a=elsewhere", "--load a=elsewhere: cannot read elsewhere: is a directory"),
        (
            "a=elsewhere/scale.npy",
            "--load a=elsewhere/scale.npy: elsewhere/scale.npy does not fit the array a (3 float): it has the shape (1,), not (3,)",
        ),
        (
            "scale=elsewhere/a.npy",
            "the variable `scale` (1 float): it has the shape (3,), not (1,)",
        ),
    ] {
        place
            .run(&["render", "scenes/scene.cu", "--device", "cpu", "--load", load])
            .expect_one_line(2, &[told]);
    }
    let faulty =
        SCENE.replace("[variable.scale]\ntype  = \"float\"", "[variable.scale]\ntype  = \"flaot\"");
    place.file("scenes/scene.cu", &faulty);
    let told = "scenes/scene.cu:10:9: error: `type` cannot be \"flaot\"";
    place
        .run(&["check", "scenes/scene.cu", "--load", "scale=elsewhere/scale.npy"])
        .expect_one_line(1, &[told]);
    place
        .run(&["render", "scenes/scene.cu", "--device", "cpu", "--load", "a"])
        .expect(2, &["expected NAME=VALUE"]);
}

#[test]
fn a_mistake_is_told_by_check_too() {
    let place = place();
    save(&place.path("scenes/a.npy"), &[1.0]);
    let device = ["check", "scenes/scene.cu", "--device", "cpu"];
    for command in [&device[..2], &device] {
        place.run(command).expect_one_line(
            1,
            &["scenes/scene.cu:5:9: error: a.npy does not fit the array a (3 float)"],
        );
    }
    place.run(&["check", "scenes/scene.cu", "--load", "a=elsewhere/a.npy"]).expect(0, &[]);
}

#[cfg(unix)]
#[test]
fn a_scene_reads_only_what_lies_below_it() {
    use std::os::unix::fs::symlink;
    let place = place();
    symlink("../elsewhere/a.npy", place.path("scenes/link.npy")).unwrap();
    symlink("../elsewhere", place.path("scenes/linked")).unwrap();
    symlink("sub/a.npy", place.path("scenes/within.npy")).unwrap();
    let absolute = place.path("elsewhere/a.npy").display().to_string();
    let with = |file: &str| {
        place.file("scenes/scene.cu", &SCENE.replace("\"a.npy\"", &format!("{file:?}")))
    };
    for inside in ["./a.npy", "sub/a.npy", "sub/../a.npy", "within.npy"] {
        with(inside);
        place.run(&["check", "scenes/scene.cu"]).expect(0, &[]);
    }
    let check = ["check", "scenes/scene.cu"];
    for outside in
        ["../elsewhere/a.npy", "link.npy", "linked/a.npy", &absolute, "/dev/zero", "../nowhere.npy"]
    {
        with(outside);
        let told = format!("scenes/scene.cu:5:9: error: `{outside}` may not be read: ");
        place.run(&check).expect_one_line(1, &[&told, "--trust"]);
        place.run(&["render", "scenes/scene.cu", "--device", "cpu"]).expect_one_line(1, &[&told]);
    }
    for outside in ["../elsewhere/a.npy", "link.npy", &absolute] {
        with(outside);
        place.run(&[&check[..], &["--trust"]].concat()).expect(0, &[]);
        assert_eq!(render(&place, &["--trust"]), [14.0, 16.0, 18.0]);
        // The user may.
        assert_eq!(render(&place, &["--load", "a=scenes/a.npy"]), [2.0, 4.0, 6.0]);
    }
}

#[cfg(unix)]
#[test]
fn neither_pipes_nor_devices_nor_files_without_end_are_read() {
    let place = place();
    let pipe = place.path("scenes/pipe.npy");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    place.file("scenes/scene.cu", &SCENE.replace("\"a.npy\"", "\"pipe.npy\""));
    let told = "it is a pipe or a device, not a file";
    place
        .run(&["check", "scenes/scene.cu"])
        .expect_one_line(1, &["scene.cu:5:9: error: cannot read pipe.npy", told]);
    for file in ["scenes/pipe.npy", "/dev/zero", "/dev/null"] {
        let load = format!("a={file}");
        place.run(&["check", "scenes/scene.cu", "--load", &load]).expect_one_line(2, &[told]);
    }
    // A file that says that it is large, and is.
    let sparse = place.path("scenes/large.npy");
    save(&sparse, &[1.0, 2.0, 3.0]);
    fs::OpenOptions::new().write(true).open(&sparse).unwrap().set_len(1 << 40).unwrap();
    let told = "it is damaged: 1099511627648 bytes cannot have the shape (3,)";
    place
        .run(&["check", "scenes/scene.cu", "--load", "a=scenes/large.npy"])
        .expect_one_line(2, &[told]);
    let texture =
        "/*---\n[texture.t]\nformat = \"rgba8\"\nsize = [8, 8]\nfile = \"large.png\"\n---*/\n";
    place.file("scenes/picture.cu", texture);
    fs::File::create(place.path("scenes/large.png")).unwrap().set_len(1 << 40).unwrap();
    place
        .run(&["check", "scenes/picture.cu"])
        .expect(1, &["it has 1099511627776 bytes, not at most"]);
}
