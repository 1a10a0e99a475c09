//! What an edit of a data file, or of what the manifest says of data, does to a session that runs.

use ndarray::Array1;
use ndarray_npy::write_npy;
use warpaint::{device::Device, session::Session};

use super::{Folder, on_each_device, read, scene};

const KERNELS: &str =
    "__global__ void grow(float *a, float *b) { a[threadIdx.x] += 1.0f; b[threadIdx.x] += 1.0f; }
__global__ void twice(float *a) { a[threadIdx.x] *= 2.0f; }
__global__ void ten(float *b) { b[threadIdx.x] = 10.0f; }
";

fn source(of_a: &str) -> String {
    let passes = "
[[pass]]
kernel = \"twice\"
on = \"reset\"
grid = 1
block = 2
[[pass]]
kernel = \"ten\"
on = \"reset\"
grid = 1
block = 2
[[pass]]
kernel = \"grow\"
grid = 1
block = 2
";
    let arrays = format!(
        "[array.a]\ntype = \"float\"\ncount = 2\n{of_a}\n[array.b]\ntype = \"float\"\ncount = 2\n"
    );
    scene(&format!("{arrays}{passes}"), KERNELS)
}

fn save(folder: &Folder, numbers: [f32; 2]) {
    write_npy(folder.path("a.npy"), &Array1::from(numbers.to_vec())).unwrap();
}

/// Gives the session a text and takes a step.
fn edit(session: &mut Session, text: &str) {
    session.set_source(text.to_owned());
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
    session.run_steps(1, |_| {}).unwrap();
}

fn both(session: &mut Session) -> [f32; 2] {
    [read::<f32>(session, "a")[0], read::<f32>(session, "b")[0]]
}

#[test]
fn a_changed_file_sets_its_resource_anew() {
    on_each_device(|device| {
        let folder = Folder::new();
        save(&folder, [1.0, 2.0]);
        let text = source("file = \"a.npy\"");
        let mut session = folder.begun(device, &text);
        assert_eq!(session.snapshot().compile.included, [folder.path("a.npy")], "it is watched");
        session.run_steps(3, |_| {}).unwrap();
        assert_eq!(both(&mut session), [5.0, 13.0]);

        edit(&mut session, &text);
        assert_eq!(both(&mut session), [6.0, 14.0], "the file is as it was");
        save(&folder, [1.0, 2.0]);
        edit(&mut session, &text);
        assert_eq!(both(&mut session), [7.0, 15.0], "its content is as it was");

        save(&folder, [100.0, 2.0]);
        edit(&mut session, &text);
        assert_eq!(
            both(&mut session),
            [201.0, 16.0],
            "loaded, its reset pass run; the other goes on"
        );
        assert_eq!(session.clock().step, 6);

        std::fs::write(folder.path("a.npy"), "half written").unwrap();
        session.set_source(text.clone());
        assert!(!session.wait_for_program().unwrap());
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(both(&mut session), [202.0, 17.0], "the old program runs on");
        std::fs::remove_file(folder.path("a.npy")).unwrap();
        session.set_source(text.clone());
        assert!(!session.wait_for_program().unwrap());
        assert_eq!(session.snapshot().compile.included, [folder.path("a.npy")], "it may come back");
        #[cfg(unix)]
        {
            // One that may not be read is replaced by another, too.
            std::os::unix::fs::symlink("/dev/zero", folder.path("a.npy")).unwrap();
            session.set_source(text.clone());
            assert!(!session.wait_for_program().unwrap());
            assert_eq!(session.snapshot().compile.included, [folder.path("a.npy")]);
            std::fs::remove_file(folder.path("a.npy")).unwrap();
        }
        save(&folder, [100.0, 2.0]);
        edit(&mut session, &text);
        assert_eq!(both(&mut session), [203.0, 18.0], "it is as it was when it was loaded");
    });
}

#[test]
fn so_does_what_the_manifest_says_of_it() {
    let folder = Folder::new();
    save(&folder, [1.0, 2.0]);
    let mut session = folder.begun(&Device::cpu().unwrap(), &source("value = 3"));
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(both(&mut session), [7.0, 11.0]);
    edit(&mut session, &source("value = 4"));
    assert_eq!(both(&mut session), [9.0, 12.0]);
    edit(&mut session, &source("file = \"a.npy\""));
    assert_eq!(both(&mut session), [3.0, 13.0]);
    edit(&mut session, &source(""));
    assert_eq!(both(&mut session), [1.0, 14.0], "zeros again");
    edit(&mut session, &source(""));
    assert_eq!(both(&mut session), [2.0, 15.0]);
}
