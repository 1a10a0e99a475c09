//! The manual of scenes, `docs/scenes.md`: every example runs, and every key has one.

use std::{collections::BTreeSet, fs};

use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    diagnostic::has_errors,
    interop::Interop,
    session::{Options, Session},
};

use super::support::root;

/// What a fragment of a manifest is completed with: the tables that it does not declare itself.
const TABLES: &[&str] = &[
    "[constant]\nn = 1024",
    "[buffer.position]\ntype = \"float4\"\ncount = \"n\"",
    "[array.velocity]\ntype = \"float4\"\ncount = \"n\"",
    "[texture.dye]\nformat = \"rgba32f\"\nsize = [64, 64]\ndouble = true",
    "[texture.smoke]\nformat = \"r32f\"\nsize = [8, 8, 8]",
    "[param.rounds]\nvalue = 3\nmax = 8",
    "[param.fast]\nvalue = true",
    "[[pass]]\nkernel = \"advance\"\nover = \"position\"",
];

/// The kernels that fragments name.
const KERNELS: &str = "
__global__ void scatter(float4 *position, int position_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < position_count) position[i] = make_float4(i, 0.0f, 0.0f, 1.0f);
}
__global__ void advance(float4 *position, const float4 *velocity, int position_count, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < position_count) position[i].x += dt * velocity[i].x;
}
template <int N>
__global__ void relax(cudaTextureObject_t dye, cudaSurfaceObject_t dye_next, int dye_width, int dye_height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dye_width || y >= dye_height) return;
    surf2Dwrite(tex2D<float4>(dye, x + 0.5f, y + 0.5f), dye_next, x * 16, y);
}
__global__ void total(const float4 *position) {
    extern __shared__ float sums[];
    sums[threadIdx.x] = position[threadIdx.x].x;
}
";

/// A folder with the files that examples name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let height = ndarray::Array2::from_shape_fn((64, 64), |(y, x)| (y + x) as u8);
    ndarray_npy::write_npy(data.join("height.npy"), &height).unwrap();
    fs::write(data.join("sound.raw"), [0; 2 * 2 * 2048]).unwrap();
    image::RgbaImage::new(64, 64).save(data.join("photo.png")).unwrap();
    folder
}

/// A fenced example, and the line of the manual that it begins on.
struct Example<'a> {
    language: &'a str,
    line: usize,
    text: String,
}

impl Example<'_> {
    /// A whole scene.
    fn scene(&self) -> String {
        match self.language {
            "cuda" if self.text.contains("/*---") => self.text.clone(),
            "cuda" => format!("/*---\n{}\n---*/\n{}{KERNELS}", completed(""), self.text),
            _ => format!("/*---\n{}\n---*/\n{KERNELS}", completed(&self.text)),
        }
    }
}

/// A fragment with the tables that it lacks.
fn completed(fragment: &str) -> String {
    let declared = |table: &&&str| {
        let header = table.lines().next();
        // Behind it there may be a remark.
        fragment.lines().any(|line| line.split('#').next().map(str::trim_end) == header)
    };
    let missing = TABLES.iter().filter(|table| !declared(table)).copied();
    [fragment].into_iter().chain(missing).collect::<Vec<_>>().join("\n")
}

fn manual() -> String {
    fs::read_to_string(root().join("docs/scenes.md")).unwrap()
}

fn examples(text: &str) -> Vec<Example<'_>> {
    let mut found: Vec<Example<'_>> = Vec::new();
    let mut open = false;
    for (line, text) in (1..).zip(text.lines()) {
        match (open, text.strip_prefix("```")) {
            (false, Some(language)) => {
                found.push(Example { language, line, text: String::new() });
                open = true;
            }
            (true, Some(_)) => open = false,
            (true, None) => {
                let example = found.last_mut().unwrap();
                example.text.push_str(text);
                example.text.push('\n');
            }
            (false, None) => {}
        }
    }
    found.retain(|example| ["cuda", "toml"].contains(&example.language));
    found
}

#[test]
fn every_example_runs() {
    let text = manual();
    let examples = examples(&text);
    assert!(examples.len() > 10, "{}", examples.len());
    let folder = folder();
    for example in examples {
        let device = Device::cpu().unwrap();
        let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(&device));
        let options = Options {
            path: Some(folder.path().join("scene.cu")),
            ..Options::new(format!("example of line {}", example.line), example.scene())
        };
        let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
        let runs = session.wait_for_program().unwrap();
        let remarks = session.snapshot().compile.diagnostics;
        assert!(runs && !has_errors(&remarks), "{remarks:#?}\n{}", example.scene());
        session.run_steps(1, |_| {}).unwrap();
        session.measure().unwrap();
        assert!(session.snapshot().fault.is_none(), "{:#?}", session.snapshot().fault);
    }
}

/// The keys that a section's tables explain: what stands in backticks in the first column.
fn explained(section: &str) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let mut in_keys = false;
    for line in section.lines() {
        let Some(row) = line.strip_prefix("| ") else {
            in_keys &= line.starts_with('|');
            continue;
        };
        let first = row.split(" | ").next().unwrap();
        if first.starts_with("Key") {
            in_keys = true;
        } else if in_keys {
            keys.extend(first.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    keys
}

#[test]
fn every_key_has_an_example_in_its_section() {
    let text = manual();
    let mut seen = 0;
    for section in text.split("\n### ").skip(1) {
        let title = section.lines().next().unwrap();
        let examples: String = examples(section).into_iter().map(|example| example.text).collect();
        for key in explained(section) {
            let shown = examples.lines().any(|line| {
                line.trim_start()
                    .strip_prefix(&key)
                    .is_some_and(|rest| rest.trim_start().starts_with('='))
            });
            assert!(shown, "`{key}` of {title} has no example");
            seen += 1;
        }
    }
    assert!(seen > 45, "{seen} keys: are the tables what they were?");
}

/// The kernels of the program of `docs/own-kernels.md`, whose host code stands there.
const OWN: &str = "
__global__ void start(float *t, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) t[y * w + x] = x == 0;
}
__global__ void step(const float *in, float *out, int w, int h, float k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = in[y * w + x] + k * (in[y * w + max(x - 1, 0)] - in[y * w + x]);
}
";

/// The fenced texts of a language.
fn fenced<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// What the page on own kernels says that is drafted is so, and each of its manifests runs with that program.
#[test]
fn own_kernels_are_driven_as_their_page_says() {
    let page = fs::read_to_string(root().join("docs/own-kernels.md")).unwrap();
    let [host] = fenced(&page, "cpp")[..] else { panic!("one program") };
    let source = format!(
        "{OWN}int main() {{ const int width = 64, height = 32, steps = 100; dim3 block(16, 16), grid(4, 2);\n{host}\n}}\n"
    );
    let drafted = warpaint::scene::draft("heat.cu", &source);
    let manifests = fenced(&page, "toml");
    let (first, others) = manifests.split_first().unwrap();
    assert!(drafted.contains(first), "{first}\nin\n{drafted}");
    assert_eq!(others.len(), 2, "each is completed below");
    for other in others {
        let (tables, arguments) = other.split_once("[pass.args]\n").unwrap_or((other, ""));
        let key = arguments.split('=').next().unwrap_or_default().trim();
        let is_other =
            |line: &&str| key.is_empty() || line.split('=').next().unwrap().trim() != key;
        let before: Vec<&str> = first.lines().filter(is_other).collect();
        // The last pass ends with its arguments, which those of the fragment stand among.
        let manifest = format!("{}\n{arguments}\n{tables}", before.join("\n"));
        let scene = format!("/*---\n{manifest}\n---*/\n{OWN}");
        let device = Device::cpu().unwrap();
        let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(&device));
        let options = Options::new("own.cu", scene.clone());
        let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
        let runs = session.wait_for_program().unwrap();
        let remarks = session.snapshot().compile.diagnostics;
        assert!(runs && !has_errors(&remarks), "{remarks:#?}\n{scene}");
        session.run_steps(1, |_| {}).unwrap();
        assert!(session.snapshot().fault.is_none(), "{:#?}", session.snapshot().fault);
    }
}

/// What the table of the host's loops has in a manifest is TOML.
#[test]
fn entries_of_the_page_on_own_kernels_are_toml() {
    let page = fs::read_to_string(root().join("docs/own-kernels.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let mut seen = 0;
    for row in rows {
        let there = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for entry in there.split('`').skip(1).step_by(2).filter(|text| text.contains(" = ")) {
            let found = entry.parse::<toml::Table>();
            assert!(found.is_ok(), "{entry}: {found:?}");
            seen += 1;
        }
    }
    assert!(seen > 12, "{seen} entries: is the table what it was?");
}
