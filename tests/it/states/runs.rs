//! Run files: what they have of the files that a scene reads.

use super::*;

/// A `.npy` file of four numbers, of which the first is this.
fn numbers(first: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let all = ndarray::Array1::from_iter(first..first + 4);
    ndarray_npy::WriteNpyExt::write_npy(&all, &mut bytes).unwrap();
    bytes
}

/// Runs `scene.cu` in `at` with these arguments, and repeats the run elsewhere; gives what `a` holds after both.
fn repeated(at: &Path, arguments: &[&str]) -> [Vec<i32>; 2] {
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("r.json");
    let record = ["--steps", "1", "--npy", "a=a.npy", "--record", file.to_str().unwrap()];
    render(at, &[&record, arguments].concat());
    let (said, code) =
        run(elsewhere.path(), &["replay", "r.json", "--device", "cpu", "--npy", "a=a.npy"]);
    assert_eq!(code, 0, "{arguments:?}: {said}");
    [at, elsewhere.path()].map(|folder| {
        let file = fs::File::open(folder.join("a.npy")).unwrap();
        ndarray::Array1::<i32>::read_npy(file).unwrap().to_vec()
    })
}

#[test]
fn data_that_several_resources_read_are_in_the_run_file() {
    let (folder, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = folder.path();
    let array = |name: &str| format!("[array.{name}]\ntype = \"int\"\ncount = 4\n");
    let text = format!(
        "/*---\n{}{}{}file = \"loads/a/c.npy\"\n[[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
         __global__ void k(int *a, const int *b, const int *c) {{\n    int i = threadIdx.x;\n    \
         if (i < 4) a[i] += 10 * b[i] + 100 * c[i];\n}}\n",
        array("a"),
        array("b"),
        array("c")
    );
    fs::write(at.join("scene.cu"), text).unwrap();
    fs::create_dir_all(at.join("loads/a")).unwrap();
    fs::write(at.join("loads/a/c.npy"), numbers(3)).unwrap();
    fs::write(at.join("y.npy"), numbers(1)).unwrap();
    fs::write(far.path().join("c.npy"), numbers(2)).unwrap();
    let of_far = |name: &str| format!("{name}={}", far.path().join("c.npy").display());
    let sum = |a: i32, b: i32, c: i32| -> Vec<i32> {
        (0..4).map(|i| a + i + 10 * (b + i) + 100 * (c + i)).collect()
    };
    for (loads, [a, b, c]) in [
        (["a=y.npy", "b=./y.npy"], [1, 1, 3]),
        // One of the scene's own.
        (["a=y.npy", "b=loads/a/c.npy"], [1, 3, 3]),
        (["c=loads/a/c.npy", "b=loads/a/c.npy"], [0, 3, 3]),
        // From afar, with the name of one of the scene's own.
        ([&of_far("a"), &of_far("b")], [2, 2, 3]),
    ] {
        let arguments = loads.map(|load| ["--load", load]).concat();
        let expected = match a {
            0 => (0..4).map(|i| 10 * (b + i) + 100 * (c + i)).collect(),
            a => sum(a, b, c),
        };
        assert_eq!(repeated(at, &arguments), [expected.clone(), expected], "{loads:?}");
    }
}

#[test]
fn folders_of_headers_may_lie_in_each_other() {
    let (folder, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = folder.path();
    let text = "/*---\n[array.a]\ntype = \"int\"\ncount = 1\n[[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
                #include \"x.h\"\n#include \"sub/x.h\"\n#include \"y.h\"\n\
                __global__ void k(int *a) { if (threadIdx.x == 0) a[0] = X + Y; }\n";
    fs::write(at.join("scene.cu"), text).unwrap();
    for root in [at.join("include-0"), far.path().join("lib")] {
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(root.join("sub/x.h"), "#define X 5\n").unwrap();
        fs::write(root.join("y.h"), "#define Y 60\n").unwrap();
        let (root, sub) = (root.display().to_string(), root.join("sub").display().to_string());
        for folders in [[&*root, &*sub], [&*sub, &*root]] {
            let arguments = folders.map(|folder| ["-I", folder]).concat();
            assert_eq!(repeated(at, &arguments), [[65], [65]], "{folders:?}");
        }
    }
    // Beside a folder of the scene's that is called as one from afar would be.
    fs::write(at.join("include-0/own.h"), "#define OWN 700\n").unwrap();
    let own = text.replace("#include \"y.h\"", "#include \"y.h\"\n#include \"include-0/own.h\"");
    fs::write(at.join("scene.cu"), own.replace("X + Y", "X + Y + OWN")).unwrap();
    fs::write(far.path().join("lib/own.h"), "#define OWN 1\n").unwrap();
    let lib = far.path().join("lib");
    let (lib, sub) = (lib.display().to_string(), lib.join("sub").display().to_string());
    assert_eq!(repeated(at, &["-I", &sub, "-I", &lib]), [[765], [765]]);
}

/// Compiled where it lies, a file is one by whatever name it is included, and so it is where its run is repeated.
#[test]
#[cfg(unix)]
fn links_and_folders_on_the_way_are_in_the_run_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "/*---\n[array.a]\ntype = \"int\"\ncount = 1\n[[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
                #include \"b.h\"\n#include \"x.h\"\n#include \"sub/link.h\"\n#include \"empty/../c.h\"\n\
                __global__ void k(int *a) { if (threadIdx.x == 0) a[0] = x() + C; }\n";
    fs::write(at.join("scene.cu"), text).unwrap();
    fs::write(at.join("x.h"), "#pragma once\n__device__ int x() { return 40; }\n").unwrap();
    fs::write(at.join("c.h"), "#define C 2\n").unwrap();
    for folder in ["sub", "empty"] {
        fs::create_dir(at.join(folder)).unwrap();
    }
    for (target, link) in [("x.h", "b.h"), ("../x.h", "sub/link.h")] {
        std::os::unix::fs::symlink(target, at.join(link)).unwrap();
    }
    assert_eq!(repeated(at, &[]), [[42], [42]]);
}

/// A header in a folder of `-I` names another by the way over the folder above.
#[test]
fn headers_from_afar_may_lie_beside_their_folder() {
    let (folder, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (at, lib) = (folder.path(), far.path().join("lib"));
    let text = "/*---\n[array.a]\ntype = \"int\"\ncount = 1\n[[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
                #include \"x.h\"\n__global__ void k(int *a) { if (threadIdx.x == 0) a[0] = X; }\n";
    fs::write(at.join("scene.cu"), text).unwrap();
    fs::create_dir_all(lib.join("sub")).unwrap();
    fs::create_dir_all(far.path().join("other")).unwrap();
    fs::write(lib.join("sub/x.h"), "#include \"../../other/y.h\"\n#define X (Y + 1)\n").unwrap();
    fs::write(far.path().join("other/y.h"), "#define Y 41\n").unwrap();
    let include = lib.join("sub").display().to_string();
    assert_eq!(repeated(at, &["--trust", "-I", &include]), [[42], [42]]);
    render(at, &["--trust", "-I", &include, "--steps", "1", "--record", "r.json"]);
    let run = fs::read_to_string(at.join("r.json")).unwrap();
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    let names: Vec<&str> = run["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["include-0/lib/sub/x.h", "include-0/other/y.h"]);
    assert_eq!(run["include"], serde_json::json!(["include-0/lib/sub"]));
}

/// The checker's engine approximates otherwise than compiled code: a run of it is repeated by it.
#[test]
fn a_checked_run_is_repeated_as_it_ran() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "/*---\n[array.a]\ntype = \"float\"\ncount = 4096\n[[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
                __global__ void k(float *a)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
                if (i < 4096) a[i] = __expf(i / 1000.0f) + rsqrtf(i + 1.0f);\n}\n";
    fs::write(at.join("scene.cu"), text).unwrap();
    let record = |arguments: &[&str], file| {
        render(at, &[arguments, &["--steps", "1", "--record", file]].concat());
        run(at, &["replay", file, "--device", "cpu"])
    };
    for (arguments, file) in [(&["--checked"][..], "checked.json"), (&[], "plain.json")] {
        let (said, code) = record(arguments, file);
        assert_eq!(code, 0, "{arguments:?}: {said}");
    }
    // That there is something to tell apart.
    let file = fs::read_to_string(at.join("checked.json")).unwrap();
    fs::write(at.join("other.json"), file.replace("\"interpreted\": true,", "")).unwrap();
    let (said, code) = run(at, &["replay", "other.json", "--device", "cpu"]);
    assert!(code == 1 && said.contains("`a` is not as it was"), "{code}: {said}");
}

/// A run file of a stranger: very many files in it take their time, however little they hold.
#[test]
fn files_are_unpacked_up_to_a_number_and_until_a_signal() {
    let folder = folder();
    let at = folder.path();
    render(at, &["--steps", "1", "--record", "r.json"]);
    let text = fs::read_to_string(at.join("r.json")).unwrap();
    let with = |count: usize, below: &str| {
        let mut run_file: serde_json::Value = serde_json::from_str(&text).unwrap();
        let file = |number| {
            let name = format!("d{number}/{below}f");
            serde_json::json!({ "name": name, "text": "" })
        };
        run_file["files"] = (0..count).map(file).collect();
        fs::write(at.join("many.json"), run_file.to_string()).unwrap();
    };
    let deep = |count: usize| "e/".repeat(count);
    for (count, below, expected) in [
        (20_001, deep(0), "it has 20001 files, and at most 20000"),
        (300, deep(98), "its files lie in more than 20000 folders"),
        (1, deep(100), "it has a file \"d0/e/"),
    ] {
        with(count, &below);
        let (said, code) = run(at, &["replay", "many.json", "--device", "cpu"]);
        let expected = format!("many.json: it is damaged: {expected}");
        assert!(code == 2 && said.contains(&expected), "{code}: {said}");
    }

    with(20_000, "");
    let own = at.join("tmp");
    fs::create_dir(&own).unwrap();
    let mut command = Command::new(binary());
    command.args(["replay", "many.json", "--device", "cpu"]).current_dir(at).env("TMPDIR", &own);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let unpacked = || fs::read_dir(&own).unwrap().count();
    while unpacked() == 0 && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    let signal = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let status = child.wait().unwrap();
    assert_eq!((status.success(), unpacked()), (false, 0), "{status}");
}
