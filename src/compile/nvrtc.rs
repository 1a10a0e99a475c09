//! The NVRTC library: loading it from a path, and one program from creation to PTX.
//!
//! cudarc's bindings are not used here: they take the first library of a fixed list of names from the
//! loader's path, panic where a function is missing, and turn result codes into an `enum` that newer
//! libraries have other values for. The ten functions below are the same since CUDA 8 (*NVRTC*, "User
//! Interface"). NVRTC may be called from several threads at once; a program is used by one.
#![expect(unsafe_code, reason = "NVRTC is a C library, loaded at run time")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;

use super::discovery::Toolchain;
use super::request::{PRELUDE_NAME, Request};
use super::{Compiled, Error, Outcome, Result, c_headers, diagnostics};

/// `nvrtcResult`; an integer, since each version adds codes.
type Code = c_int;
const SUCCESS: Code = 0;
const INVALID_OPTION: Code = 5;
const COMPILATION: Code = 6;

/// The first version that precompiles headers.
const FIRST_TO_PRECOMPILE: (u32, u32) = (12, 8);

/// Memory reserved for precompiled headers, in bytes; what is not used of it costs nothing. A quarter of it, NVRTC's
/// own choice, is too little for `cooperative_groups/reduce.h`.
const PRECOMPILED_BYTES: usize = 1 << 30;

/// `struct _nvrtcProgram`.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}
/// `nvrtcProgram`.
type Handle = *mut Opaque;

type ReadSize = unsafe extern "C" fn(Handle, *mut usize) -> Code;
type ReadText = unsafe extern "C" fn(Handle, *mut c_char) -> Code;

/// The functions of a loaded library, which is never unloaded: it keeps state in threads that it started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nvrtc {
    version: (u32, u32),
    error_string: unsafe extern "C" fn(Code) -> *const c_char,
    create: unsafe extern "C" fn(
        *mut Handle,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Code,
    destroy: unsafe extern "C" fn(*mut Handle) -> Code,
    add_name: unsafe extern "C" fn(Handle, *const c_char) -> Code,
    compile: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> Code,
    lowered_name: unsafe extern "C" fn(Handle, *const c_char, *mut *const c_char) -> Code,
    log_size: ReadSize,
    log: ReadText,
    ptx_size: ReadSize,
    ptx: ReadText,
    arch_count: unsafe extern "C" fn(*mut c_int) -> Code,
    archs: unsafe extern "C" fn(*mut c_int) -> Code,
}

/// Looks up the function `name` as a value of the pointer type `F`.
///
/// # Safety
/// `F` must be the type of that function.
unsafe fn symbol<F: Copy>(
    library: &libloading::Library,
    name: &str,
) -> std::result::Result<F, String> {
    // SAFETY: the caller names the function's type, and the library is never unloaded.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|_| format!("lacks the function {name}"))
}

/// `symbol` for a function whose type stands where the result goes.
macro_rules! function {
    ($library:expr, $name:literal) => {
        // SAFETY: the field that takes this function has the type that nvrtc.h declares.
        unsafe { symbol($library, $name) }?
    };
}

/// Loads what NVRTC `major.minor` at `path` will ask the loader for by name while it compiles. Some versions do not
/// look beside themselves for it, and a wheel's folder is on nobody's path.
fn load_builtins(path: &Path, (major, minor): (u32, u32)) {
    let name = format!("libnvrtc-builtins.so.{major}.{minor}");
    let Some(beside) = path.parent().map(|folder| folder.join(name)).filter(|file| file.is_file())
    else {
        return;
    };
    // SAFETY: the library holds data and functions for NVRTC alone; its initialisers have no preconditions.
    match unsafe { libloading::Library::new(&beside) } {
        // Kept for the rest of the process, as NVRTC is.
        Ok(library) => std::mem::forget(library),
        Err(error) => tracing::debug!(%error, "NVRTC's builtins do not load"),
    }
}

/// Makes room for large precompiled headers, where the library knows them.
fn reserve_for_precompiled(library: &'static libloading::Library) {
    type Reserve = unsafe extern "C" fn(usize) -> Code;
    // SAFETY: the type that nvrtc.h declares since version 12.8; older libraries lack the function.
    let reserve = unsafe { symbol::<Reserve>(library, "nvrtcSetPCHHeapSize") };
    if let Ok(reserve) = reserve {
        // SAFETY: takes any size; no compilation is under way, for the library was just loaded.
        let code = unsafe { reserve(PRECOMPILED_BYTES) };
        tracing::debug!(code, "room for precompiled headers");
    }
}

impl Nvrtc {
    /// Loads the library at `path`, or says what is wrong with it.
    pub(super) fn load(path: &Path) -> std::result::Result<Self, String> {
        // SAFETY: NVRTC's initialisers have no preconditions; the file is the user's own choice or stands
        // where the loader, a toolkit or a wheel keeps it.
        let library = unsafe { libloading::Library::new(path) };
        // Kept for the rest of the process, so function pointers stay valid.
        let library: &'static libloading::Library =
            Box::leak(Box::new(library.map_err(|error| format!("does not load ({error})"))?));
        let version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code =
            function!(library, "nvrtcVersion");
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both point to integers that outlive the call.
        let code = unsafe { version(&mut major, &mut minor) };
        let version = u32::try_from(major).ok().zip(u32::try_from(minor).ok());
        let version = version
            .filter(|(major, _)| code == SUCCESS && *major >= 12)
            .ok_or_else(|| format!("is NVRTC {major}.{minor}, and 12.0 or newer is needed"))?;
        load_builtins(path, version);
        reserve_for_precompiled(library);
        Ok(Self {
            version,
            error_string: function!(library, "nvrtcGetErrorString"),
            create: function!(library, "nvrtcCreateProgram"),
            destroy: function!(library, "nvrtcDestroyProgram"),
            add_name: function!(library, "nvrtcAddNameExpression"),
            compile: function!(library, "nvrtcCompileProgram"),
            lowered_name: function!(library, "nvrtcGetLoweredName"),
            log_size: function!(library, "nvrtcGetProgramLogSize"),
            log: function!(library, "nvrtcGetProgramLog"),
            ptx_size: function!(library, "nvrtcGetPTXSize"),
            ptx: function!(library, "nvrtcGetPTX"),
            arch_count: function!(library, "nvrtcGetNumSupportedArchs"),
            archs: function!(library, "nvrtcGetSupportedArchs"),
        })
    }

    /// Whether it can precompile headers.
    pub(super) fn precompiles(&self) -> bool {
        self.version >= FIRST_TO_PRECOMPILE
    }

    /// Major and minor version.
    pub(super) fn version(&self) -> (u32, u32) {
        self.version
    }

    /// Compiles one program; the request has been checked for NUL bytes.
    ///
    /// With a folder in `precompiled`, headers are taken from there, and put there where they are not.
    pub(super) fn compile(
        &self,
        request: &Request,
        toolchain: &Toolchain,
        precompiled: Option<&Path>,
    ) -> Result<Outcome> {
        let architecture = self.architecture(request)?;
        let program = Program::create(*self, request)?;
        for expression in &request.name_expressions {
            program.add_name(expression)?;
        }
        let mut options = options(request, toolchain, architecture);
        options.extend(precompiled.into_iter().flat_map(precompiling));
        let code = program.compile(&options);
        let log = program.text("nvrtcGetProgramLog", self.log_size, self.log)?;
        let lines = request.text().lines().count();
        if matches!(code, COMPILATION | INVALID_OPTION) {
            let diagnostics = diagnostics::parse(&log, &request.name, lines, true);
            return Ok(Outcome::Rejected { diagnostics, log });
        }
        program.check("nvrtcCompileProgram", code)?;
        let names = request
            .name_expressions
            .iter()
            .map(|expression| Ok((expression.clone(), program.lowered_name(expression)?)));
        let ptx = program.text("nvrtcGetPTX", self.ptx_size, self.ptx)?;
        let directory = std::env::current_dir().unwrap_or_default();
        Ok(Outcome::Compiled(Compiled {
            names: names.collect::<Result<BTreeMap<_, _>>>()?,
            ptx: name_files_as_requested(&ptx, request, &directory).into(),
            diagnostics: diagnostics::parse(&log, &request.name, lines, false),
            log,
            cached: false,
            nvrtc: self.version,
        }))
    }

    /// The newest architecture that the library knows and the target has.
    fn architecture(&self, request: &Request) -> Result<u32> {
        let mut count = 0;
        // SAFETY: points to an integer that outlives the call.
        let code = unsafe { (self.arch_count)(&mut count) };
        check(*self, "nvrtcGetNumSupportedArchs", code, &request.name)?;
        let mut archs: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or_default()];
        // SAFETY: the array has as many elements as the library just said.
        let code = unsafe { (self.archs)(archs.as_mut_ptr()) };
        check(*self, "nvrtcGetSupportedArchs", code, &request.name)?;
        let wanted = request.target.number();
        let mut archs: Vec<u32> =
            archs.into_iter().filter_map(|arch| arch.try_into().ok()).collect();
        archs.sort_unstable();
        let newest = archs.iter().rev().find(|arch| **arch <= wanted);
        newest.copied().ok_or_else(|| Error::Target {
            target: request.target,
            oldest: archs.first().copied().unwrap_or_default(),
            version: self.version,
        })
    }

    fn error_name(&self, code: Code) -> String {
        // SAFETY: takes any code, and answers with a string literal of the library.
        let text = unsafe { (self.error_string)(code) };
        if text.is_null() {
            return "an unknown error".into();
        }
        // SAFETY: not null, and NUL-terminated as all strings of the library.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

fn check(nvrtc: Nvrtc, call: &'static str, code: Code, name: &str) -> Result<()> {
    if code == SUCCESS {
        return Ok(());
    }
    Err(Error::Nvrtc { call, code: nvrtc.error_name(code), number: code, name: name.to_owned() })
}

/// The compiler's arguments.
fn options(request: &Request, toolchain: &Toolchain, architecture: u32) -> Vec<CString> {
    let mut options = vec![c_string(format!("--gpu-architecture=compute_{architecture}"))];
    // A build for debuggers has the lines anyway, and NVRTC complains of both.
    let debugs = |option: &String| option == "--device-debug" || option == "-G";
    if !request.options.iter().any(debugs) {
        options.push(c_string("-lineinfo"));
    }
    let names_standard =
        |option: &String| option.starts_with("--std") || option.starts_with("-std");
    if !request.options.iter().any(names_standard) {
        options.push(c_string("--std=c++17"));
    }
    if !request.prelude.is_empty() {
        options.push(c_string(format!("--pre-include={PRELUDE_NAME}")));
    }
    options.extend(request.options.iter().map(|option| c_string(option.as_str())));
    for dir in request.include_dirs.iter().chain(&toolchain.include_dirs) {
        let mut option = b"--include-path=".to_vec();
        option.extend(dir.as_os_str().as_encoded_bytes());
        options.push(c_string(option));
    }
    options
}

/// The options for precompiled headers in `folder`; that one of another source does not fit (#630) is no news.
fn precompiling(folder: &Path) -> [CString; 4] {
    let mut option = b"--pch-dir=".to_vec();
    option.extend(folder.as_os_str().as_encoded_bytes());
    [
        c_string("--pch"),
        c_string("--pch-messages=false"),
        c_string("--diag-suppress=630"),
        c_string(option),
    ]
}

/// `text` up to its first NUL; a request with one gets no further than its check.
fn c_string(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_else(|error| {
        let end = error.nul_position();
        CString::new(&error.into_vec()[..end]).unwrap_or_default()
    })
}

/// A program, destroyed when dropped.
struct Program {
    nvrtc: Nvrtc,
    handle: Handle,
    name: String,
}

impl Program {
    fn create(nvrtc: Nvrtc, request: &Request) -> Result<Self> {
        let source = c_string(request.text());
        let name = c_string(request.name.as_str());
        let mut headers: Vec<(CString, CString)> = request
            .headers
            .iter()
            .chain(c_headers::for_request(request))
            .map(|header| (c_string(header.name.as_str()), c_string(header.text.as_str())))
            .collect();
        if !request.prelude.is_empty() {
            headers.push((c_string(PRELUDE_NAME), c_string(request.prelude.as_str())));
        }
        let names: Vec<*const c_char> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
        let texts: Vec<*const c_char> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
        let count = c_int::try_from(headers.len()).unwrap_or(c_int::MAX);
        let mut handle = ptr::null_mut();
        // SAFETY: the strings are NUL-terminated, both arrays have `count` elements, all outlive the call,
        // and the library copies them.
        let code = unsafe {
            (nvrtc.create)(
                &mut handle,
                source.as_ptr(),
                name.as_ptr(),
                count,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        check(nvrtc, "nvrtcCreateProgram", code, &request.name)?;
        Ok(Self { nvrtc, handle, name: request.name.clone() })
    }

    fn check(&self, call: &'static str, code: Code) -> Result<()> {
        check(self.nvrtc, call, code, &self.name)
    }

    fn add_name(&self, expression: &str) -> Result<()> {
        let expression = c_string(expression);
        // SAFETY: the program lives, and the library copies the string.
        let code = unsafe { (self.nvrtc.add_name)(self.handle, expression.as_ptr()) };
        self.check("nvrtcAddNameExpression", code)
    }

    fn compile(&self, options: &[CString]) -> Code {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: the program lives, and the array has `count` NUL-terminated strings that outlive the call.
        unsafe { (self.nvrtc.compile)(self.handle, count, pointers.as_ptr()) }
    }

    fn lowered_name(&self, expression: &str) -> Result<String> {
        let expression = c_string(expression);
        let mut lowered = ptr::null();
        // SAFETY: the program lives and has been compiled; both pointers outlive the call.
        let code =
            unsafe { (self.nvrtc.lowered_name)(self.handle, expression.as_ptr(), &mut lowered) };
        self.check("nvrtcGetLoweredName", code)?;
        // SAFETY: on success a NUL-terminated string that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(lowered) }.to_string_lossy().into_owned())
    }

    /// A text of the program: its length is asked for first, and counts the NUL.
    fn text(&self, call: &'static str, size: ReadSize, read: ReadText) -> Result<String> {
        let mut len = 0;
        // SAFETY: the program lives, and `len` outlives the call.
        let code = unsafe { size(self.handle, &mut len) };
        self.check(call, code)?;
        let mut bytes = vec![0u8; len];
        // SAFETY: the buffer has the length that the library just asked for.
        let code = unsafe { read(self.handle, bytes.as_mut_ptr().cast()) };
        self.check(call, code)?;
        bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(len));
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created by this library, and not used any more. Its code cannot be acted upon here.
        unsafe { (self.nvrtc.destroy)(&mut self.handle) };
    }
}

/// The PTX with its `.file` entries as the request named the files: NVRTC puts the current directory before
/// relative names, which would tie a cached result to the directory that it was compiled in.
fn name_files_as_requested(ptx: &str, request: &Request, directory: &Path) -> String {
    let directory = format!("{}/", escape(directory.as_os_str().as_encoded_bytes()));
    let names = request.headers.iter().map(|header| &header.name).chain([&request.name]);
    let paths = names.map(Path::new).chain(request.include_dirs.iter().map(PathBuf::as_path));
    let absolute = paths.filter(|path| path.is_absolute());
    let absolute: Vec<String> =
        absolute.map(|path| escape(path.as_os_str().as_encoded_bytes())).collect();
    let mut lines = Vec::new();
    for line in ptx.split('\n') {
        let entry = line.trim_start().starts_with(".file").then(|| line.split_once('"')).flatten();
        let entry = entry.filter(|(_, name)| !absolute.iter().any(|path| name.starts_with(path)));
        let name = entry.and_then(|(head, name)| Some((head, name.strip_prefix(&directory)?)));
        lines.push(match name {
            Some((head, name)) => format!("{head}\"{name}").into(),
            None => std::borrow::Cow::Borrowed(line),
        });
    }
    lines.join("\n")
}

/// As PTX strings spell bytes beyond ASCII: `\303\274`.
fn escape(bytes: &[u8]) -> String {
    let escaped = bytes.iter().map(|byte| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => format!("\\{byte:03o}"),
    });
    escaped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_entries_are_named_as_requested() {
        let ptx = "\t.loc\t1 3 0\n\t.file\t1 \"/d\\303\\274/k/a.cu\"\n\t.file\t2 \"/d\\303\\274/i/b.cuh\"\n";
        let named = |name: &str, include: &str| {
            let mut request = Request::new(name, "", crate::compile::Target::CPU);
            request.include_dirs.push(include.into());
            name_files_as_requested(ptx, &request, Path::new("/dü"))
        };
        let ptx_with = |a: &str, b: &str| {
            ptx.replace("/d\\303\\274/k/a.cu", a).replace("/d\\303\\274/i/b.cuh", b)
        };
        assert_eq!(named("k/a.cu", "i"), ptx_with("k/a.cu", "i/b.cuh"));
        assert_eq!(named("/dü/k/a.cu", "i"), ptx_with("/d\\303\\274/k/a.cu", "i/b.cuh"));
        assert_eq!(named("/dü/k/a.cu", "/dü/i"), ptx);
    }

    #[test]
    fn a_file_that_is_no_library_says_so() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Nvrtc::load(file.path()).unwrap_err().contains("does not load"));
    }
}
