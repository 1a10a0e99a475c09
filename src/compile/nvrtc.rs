//! The NVRTC library: loading it from a path, and one program from creation to PTX.
//!
//! cudarc's bindings are not used here: they take the first library of a fixed list of names from the
//! loader's path, panic where a function is missing, and turn result codes into an `enum` that newer
//! libraries have other values for. The ten functions below are the same since CUDA 8 (*NVRTC*, "User
//! Interface"). NVRTC may be called from several threads at once; a program is used by one.
#![expect(unsafe_code, reason = "NVRTC is a C library, loaded at run time")]

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use super::job::{Answer, Facts, Job, LONGEST_PTX};

/// `nvrtcResult`; an integer, since each version adds codes.
type Code = c_int;
const SUCCESS: Code = 0;
/// `NVRTC_ERROR_OUT_OF_MEMORY`.
pub(super) const OUT_OF_MEMORY: Code = 1;
const INVALID_OPTION: Code = 5;
const COMPILATION: Code = 6;

/// Memory reserved for precompiled headers, in bytes; what is not used of it costs nothing. A quarter of it, NVRTC's
/// own choice, is too little for `cooperative_groups/reduce.h`.
pub(super) const PRECOMPILED_BYTES: usize = 1 << 30;

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
#[derive(Clone, Debug)]
pub(super) struct Nvrtc {
    facts: Facts,
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
unsafe fn symbol<F: Copy>(library: &libloading::Library, name: &str) -> Result<F, String> {
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
/// look beside themselves for it, and a wheel's folder is on nobody's path. Whether it was found.
fn load_builtins(path: &Path, (major, minor): (u32, u32)) -> bool {
    let name = format!("libnvrtc-builtins.so.{major}.{minor}");
    let Some(beside) = path.parent().map(|folder| folder.join(name)).filter(|file| file.is_file())
    else {
        return false;
    };
    // SAFETY: the library holds data and functions for NVRTC alone; its initialisers have no preconditions.
    match unsafe { libloading::Library::new(&beside) } {
        // Kept for the rest of the process, as NVRTC is.
        Ok(library) => std::mem::forget(library),
        Err(error) => {
            tracing::debug!(%error, "NVRTC's builtins do not load");
            return false;
        }
    }
    true
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

/// [`Nvrtc::load`] for this process, which keeps what it once loaded.
pub(super) fn load_here(path: &Path) -> Result<Nvrtc, String> {
    static LOADED: Mutex<Vec<(PathBuf, Nvrtc)>> = Mutex::new(Vec::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, nvrtc)) = loaded.iter().find(|(known, _)| known == path) {
        return Ok(nvrtc.clone());
    }
    let nvrtc = Nvrtc::load(path)?;
    loaded.push((path.to_owned(), nvrtc.clone()));
    Ok(nvrtc)
}

impl Nvrtc {
    /// Loads the library at `path`, or says what is wrong with it.
    pub(super) fn load(path: &Path) -> Result<Self, String> {
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
        let has_builtins = load_builtins(path, version);
        reserve_for_precompiled(library);
        let mut loaded = Self {
            facts: Facts { version, architectures: Vec::new() },
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
        };
        loaded.facts.architectures =
            loaded.architectures().map_err(|_| "does not tell what it compiles for".to_owned())?;
        if !has_builtins {
            // It finds them by itself, if at all: now, for what is confined later cannot load them.
            let answer = loaded.compile(&Job::default());
            tracing::debug!(?answer, "an empty program");
        }
        Ok(loaded)
    }

    /// What there is to know of it.
    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Compiles one program, as confined as the job says; its texts hold no NUL bytes.
    pub(super) fn compile(&self, job: &Job) -> Answer {
        let compile = || self.try_compile(job).unwrap_or_else(|failure| failure);
        let Some(confinement) = &job.confinement else { return compile() };
        confinement.run(compile).unwrap_or_else(|error| Answer::Failed {
            call: "a thread to compile in".to_owned(),
            code: error.to_string(),
            number: OUT_OF_MEMORY,
        })
    }

    /// [`compile`](Self::compile), with [`Answer::Failed`] as an error.
    fn try_compile(&self, job: &Job) -> Result<Answer, Answer> {
        let program = Program::create(self, job)?;
        for expression in &job.name_expressions {
            program.add_name(expression)?;
        }
        let code = program.compile(&job.options);
        let log = program.text("nvrtcGetProgramLog", self.log_size, self.log)?;
        if matches!(code, COMPILATION | INVALID_OPTION) {
            return Ok(Answer::Rejected { log });
        }
        program.check("nvrtcCompileProgram", code)?;
        let names = job.name_expressions.iter();
        let names =
            names.map(|expression| Ok((expression.clone(), program.lowered_name(expression)?)));
        let names = names.collect::<Result<_, _>>()?;
        match program.size("nvrtcGetPTXSize", self.ptx_size)? {
            len if len > LONGEST_PTX => Ok(Answer::TooLong { len }),
            _ => {
                let ptx = program.text("nvrtcGetPTX", self.ptx_size, self.ptx)?;
                Ok(Answer::Compiled { ptx, names, log })
            }
        }
    }

    /// The architectures that it compiles for, oldest first.
    fn architectures(&self) -> Result<Vec<u32>, Answer> {
        let mut count = 0;
        // SAFETY: points to an integer that outlives the call.
        let code = unsafe { (self.arch_count)(&mut count) };
        self.check("nvrtcGetNumSupportedArchs", code)?;
        let mut archs: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or_default()];
        // SAFETY: the array has as many elements as the library just said.
        let code = unsafe { (self.archs)(archs.as_mut_ptr()) };
        self.check("nvrtcGetSupportedArchs", code)?;
        let mut archs: Vec<u32> =
            archs.into_iter().filter_map(|arch| arch.try_into().ok()).collect();
        archs.sort_unstable();
        Ok(archs)
    }

    fn check(&self, call: &str, code: Code) -> Result<(), Answer> {
        if code == SUCCESS {
            return Ok(());
        }
        Err(Answer::Failed { call: call.to_owned(), code: self.error_name(code), number: code })
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

/// `text` up to its first NUL; a request with one gets no further than its check.
fn c_string(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_else(|error| {
        let end = error.nul_position();
        CString::new(&error.into_vec()[..end]).unwrap_or_default()
    })
}

/// A program, destroyed when dropped.
struct Program<'a> {
    nvrtc: &'a Nvrtc,
    handle: Handle,
}

impl<'a> Program<'a> {
    fn create(nvrtc: &'a Nvrtc, job: &Job) -> Result<Self, Answer> {
        let (source, name) = (c_string(&*job.source), c_string(&*job.name));
        let headers: Vec<(CString, CString)> =
            job.headers.iter().map(|(name, text)| (c_string(&**name), c_string(&**text))).collect();
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
        nvrtc.check("nvrtcCreateProgram", code)?;
        Ok(Self { nvrtc, handle })
    }

    fn check(&self, call: &str, code: Code) -> Result<(), Answer> {
        self.nvrtc.check(call, code)
    }

    fn add_name(&self, expression: &str) -> Result<(), Answer> {
        let expression = c_string(expression);
        // SAFETY: the program lives, and the library copies the string.
        let code = unsafe { (self.nvrtc.add_name)(self.handle, expression.as_ptr()) };
        self.check("nvrtcAddNameExpression", code)
    }

    fn compile(&self, options: &[Vec<u8>]) -> Code {
        let options: Vec<CString> = options.iter().map(|option| c_string(&**option)).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: the program lives, and the array has `count` NUL-terminated strings that outlive the call.
        unsafe { (self.nvrtc.compile)(self.handle, count, pointers.as_ptr()) }
    }

    fn lowered_name(&self, expression: &str) -> Result<String, Answer> {
        let expression = c_string(expression);
        let mut lowered = ptr::null();
        // SAFETY: the program lives and has been compiled; both pointers outlive the call.
        let code =
            unsafe { (self.nvrtc.lowered_name)(self.handle, expression.as_ptr(), &mut lowered) };
        self.check("nvrtcGetLoweredName", code)?;
        // SAFETY: on success a NUL-terminated string that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(lowered) }.to_string_lossy().into_owned())
    }

    /// The length of a text of the program, with its NUL.
    fn size(&self, call: &str, size: ReadSize) -> Result<usize, Answer> {
        let mut len = 0;
        // SAFETY: the program lives, and `len` outlives the call.
        let code = unsafe { size(self.handle, &mut len) };
        self.check(call, code)?;
        Ok(len)
    }

    /// A text of the program.
    fn text(&self, call: &str, size: ReadSize, read: ReadText) -> Result<String, Answer> {
        let len = self.size(call, size)?;
        let mut bytes = vec![0u8; len];
        // SAFETY: the buffer has the length that the library just asked for.
        let code = unsafe { read(self.handle, bytes.as_mut_ptr().cast()) };
        self.check(call, code)?;
        bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(len));
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: created by this library, and not used any more. Its code cannot be acted upon here.
        unsafe { (self.nvrtc.destroy)(&mut self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_library_says_so() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Nvrtc::load(file.path()).unwrap_err().contains("does not load"));
    }
}
