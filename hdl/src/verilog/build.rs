// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds printed designs into libraries: Verilator, then the C++ compiler, cached by content.
//!
//! ```text
//! <cache>/<hash of text, shim, flags, tool version>/   model.v shim.cpp verilator.log lib<top>.so|.a
//! <cache>/runtime-<hash of version, flags>/             Verilator's own runtime, compiled once, and its headers, precompiled
//! ```

use super::{shim, Port};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use thiserror::Error;

/// Why a model could not be built.
#[derive(Debug, Error)]
pub enum BuildError {
    #[error("{tool} is not installed (Debian, Ubuntu: apt-get install {package})")]
    Missing { tool: &'static str, package: &'static str },
    #[error("{tool} failed:\n{log}")]
    Failed { tool: &'static str, log: String },
    #[error("{path}: {error}")]
    Io { path: String, error: std::io::Error },
}

/// What to link.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Library {
    /// To load at run time.
    Shared,
    /// To link from a build script: link `stdc++` too.
    Static,
}

/// How to build.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    pub library: Library,
    /// FST tracing compiled in (slower).
    pub trace: bool,
    /// The C++ compiler's optimisation, as in `-O2`.
    pub optimise: u8,
    /// Print Verilator's warnings of `-Wall` into the log (they are never fatal here).
    pub lint: bool,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            library: Library::Shared,
            trace: false,
            optimise: 2,
            lint: true,
        }
    }
}

/// A built model.
#[derive(Clone, Debug)]
pub struct Built {
    /// `lib<top>.so` or `lib<top>.a`.
    pub library: PathBuf,
    /// Verilator's warnings.
    pub warnings: String,
    /// Whether it was there already.
    pub cached: bool,
}

/// Warnings of `-Wall` that printed designs may have, each with its reason.
pub const WAIVERS: &[(&str, &str)] = &[
    ("DECLFILENAME", "several modules in one file where the text is kept in one"),
    ("UNUSEDSIGNAL", "bits of a bus that a block does not look at"),
    ("PINCONNECTEMPTY", "an output of a child that nobody reads is left open, visibly"),
];

/// Bytes of a text whose model is compiled in two parts.
const LARGE: usize = 400_000;

/// Builds `text`, whose top is `top` with `ports`, below `cache`.
pub fn build(text: &str, top: &str, ports: &[Port], cache: &Path, options: &BuildOptions) -> Result<Built, BuildError> {
    let version = version()?;
    let shim = shim::generate(ports, top);
    let text = &format!("{text}{}", shim::sampler(ports, top));
    let key = format!("{text}\0{shim}\0{top}\0{options:?}\0{version}");
    let dir = cache.join(format!("{:032x}", hash(&key)));
    let extension = if options.library == Library::Shared { "so" } else { "a" };
    let library = dir.join(format!("lib{top}.{extension}"));
    let log = dir.join("verilator.log");
    let one = turn(hash(&key));
    let _one = one.lock().unwrap_or_else(PoisonError::into_inner);
    if library.exists() {
        return Ok(Built {
            library,
            warnings: fs::read_to_string(log).unwrap_or_default(),
            cached: true,
        });
    }
    // Built aside and renamed, so that neither two processes nor two threads see half a library.
    let aside = cache.join(format!("{:032x}.{}", hash(&key), own()));
    fs::create_dir_all(&aside).map_err(|e| io(&aside, e))?;
    let write = |name: &str, text: &str| fs::write(aside.join(name), text).map_err(|e| io(&aside.join(name), e));
    write("model.v", text)?;
    write("shim.cpp", &shim)?;
    let warnings = verilate(&aside, top, options)?;
    write("verilator.log", &warnings)?;
    // What runs once (Verilator calls it slow) is a unit of its own where there is much of it: two compilers at once, and no less to inline.
    let (slow, quick): (Vec<String>, Vec<String>) = model_sources(&aside.join("obj"))?
        .into_iter()
        .partition(|file| text.len() > LARGE && file.contains("Slow"));
    let unit = |first: &str, files: &[String]| -> String {
        let includes = files.iter().map(|file| format!("#include \"obj/{file}\"\n"));
        first.to_string() + &includes.collect::<String>()
    };
    write("unity.cpp", &unit("#include \"shim.cpp\"\n", &quick))?;
    write("once.cpp", &unit("", &slow))?;
    let root = verilator_root()?;
    let runtime = runtime(cache, &root, &version, options)?;
    let obj = aside.join("obj");
    let includes: [&Path; 6] = ["-include".as_ref(), &runtime.header, "-I".as_ref(), &aside, "-I".as_ref(), &obj];
    let object = |unit: &str| -> Result<PathBuf, BuildError> {
        let to = aside.join(format!("{unit}.o"));
        compile(&aside.join(format!("{unit}.cpp")), &to, &root, &includes, options).map(|_| to)
    };
    let (once, unity) = std::thread::scope(|scope| {
        let once = (!slow.is_empty()).then(|| scope.spawn(|| object("once")));
        let unity = object("unity");
        (once.map(|thread| thread.join().expect("a thread that doesn't panic")), unity)
    });
    let mut objects = vec![unity?];
    objects.extend(once.transpose()?);
    objects.extend(runtime.objects);
    link(&objects, &aside.join(format!("lib{top}.{extension}")), options)?;
    if fs::rename(&aside, &dir).is_err() {
        // Another process was first: its result is the same.
        let _ = fs::remove_dir_all(&aside);
    }
    Ok(Built {
        library,
        warnings,
        cached: false,
    })
}

/// The Verilator to run: `VERILATOR`, or the one on PATH.
pub fn verilator() -> String {
    std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into())
}

/// What Verilator says of itself, asked once a process: a start of it takes longer than to find a model.
fn version() -> Result<String, BuildError> {
    static VERSION: OnceLock<String> = OnceLock::new();
    if let Some(known) = VERSION.get() {
        return Ok(known.clone());
    }
    let text = run("verilator", "verilator", Command::new(verilator()).arg("--version"))?;
    Ok(VERSION.get_or_init(|| text).clone())
}

fn verilate(dir: &Path, top: &str, options: &BuildOptions) -> Result<String, BuildError> {
    let mut command = Command::new(verilator());
    command.current_dir(dir).args([
        "--cc",
        "-O3",
        "--x-assign",
        "fast",
        "--x-initial",
        "0",
        "--no-timing",
        "--Mdir",
        "obj",
    ]);
    command.args(["--top-module", &shim::sampled(top), "--prefix", &format!("V{top}"), "-Wno-fatal"]);
    if options.lint {
        command.arg("-Wall");
        command.args(WAIVERS.iter().map(|(name, _)| format!("-Wno-{name}")));
    }
    if options.trace {
        command.arg("--trace-fst");
    }
    run("verilator", "verilator", command.arg("model.v"))
}

fn model_sources(dir: &Path) -> Result<Vec<String>, BuildError> {
    let entries = fs::read_dir(dir).map_err(|e| io(dir, e))?;
    let mut files: Vec<String> = entries
        .filter_map(|e| e.ok().map(|e| e.file_name().to_string_lossy().into_owned()))
        .filter(|name| name.ends_with(".cpp"))
        .collect();
    files.sort();
    Ok(files)
}

fn verilator_root() -> Result<PathBuf, BuildError> {
    let text = run(
        "verilator",
        "verilator",
        Command::new(verilator()).args(["--getenv", "VERILATOR_ROOT"]),
    )?;
    Ok(PathBuf::from(text.trim()))
}

/// A part of a file name that no other build has, in this process or another.
fn own() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Threads of this process that want the same take turns: the second finds what the first has built.
fn turn(key: u128) -> Arc<Mutex<()>> {
    static TURNS: Mutex<BTreeMap<u128, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    TURNS.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
}

/// What every model needs of Verilator.
struct Runtime {
    objects: Vec<PathBuf>,
    /// Includes Verilator's headers; beside it their precompiled form, which the compiler takes by itself: of a small model's time they are the most.
    header: PathBuf,
}

/// Verilator's runtime, compiled once for each version and set of flags.
fn runtime(cache: &Path, root: &Path, version: &str, options: &BuildOptions) -> Result<Runtime, BuildError> {
    let key = format!("{version}{}{}{:?}", options.trace, options.optimise, options.library);
    let one = turn(hash(&key));
    let _one = one.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = cache.join(format!("runtime-{:032x}", hash(&key)));
    let mut names = vec!["verilated", "verilated_threads"];
    if options.trace {
        names.push("verilated_fst_c");
    }
    fs::create_dir_all(&dir).map_err(|e| io(&dir, e))?;
    // Made aside and renamed: another process may look for it.
    let made = |name: &str, make: &dyn Fn(&Path) -> Result<(), BuildError>| -> Result<PathBuf, BuildError> {
        let path = dir.join(name);
        if !path.exists() {
            let aside = dir.join(format!("{}.{name}", own()));
            make(&aside)?;
            fs::rename(&aside, &path).map_err(|e| io(&path, e))?;
        }
        Ok(path)
    };
    let mut objects = vec![];
    for name in names {
        let source = root.join("include").join(format!("{name}.cpp"));
        objects.push(made(&format!("{name}.o"), &|to| compile(&source, to, root, &[], options))?);
    }
    let header = made("headers.h", &|to| {
        fs::write(to, "#include \"verilated.h\"\n").map_err(|e| io(to, e))
    })?;
    made("headers.h.gch", &|to| {
        compile(&header, to, root, &["-x".as_ref(), "c++-header".as_ref()], options)
    })?;
    Ok(Runtime { objects, header })
}

/// `more`: further arguments.
fn compile(from: &Path, to: &Path, root: &Path, more: &[&Path], options: &BuildOptions) -> Result<(), BuildError> {
    let mut command = Command::new("c++");
    command.args([
        "-std=gnu++17",
        "-fPIC",
        "-w",
        "-fno-gnu-unique",
        "-fvisibility-inlines-hidden",
        "-c",
    ]);
    command.arg(format!("-O{}", options.optimise));
    let trace = u8::from(options.trace);
    command.args([
        format!("-DVM_TRACE={trace}"),
        format!("-DVM_TRACE_FST={trace}"),
        "-DVM_TRACE_VCD=0".into(),
    ]);
    command.args(["-DVM_COVERAGE=0", "-DVM_SC=0", "-DVL_TIME_CONTEXT"]);
    command
        .args(more)
        .arg("-I")
        .arg(root.join("include"))
        .arg("-I")
        .arg(root.join("include/vltstd"));
    command.arg(from).arg("-o").arg(to);
    run("c++", "g++", &mut command).map(|_| ())
}

fn link(objects: &[PathBuf], to: &Path, options: &BuildOptions) -> Result<(), BuildError> {
    if options.library == Library::Static {
        return run("ar", "binutils", Command::new("ar").arg("crs").arg(to).args(objects)).map(|_| ());
    }
    let mut command = Command::new("c++");
    command.args(["-shared", "-Wl,-Bsymbolic", "-o"]).arg(to).args(objects);
    if options.trace {
        command.arg("-lz");
    }
    run("c++", "g++", command.arg("-pthread")).map(|_| ())
}

/// Runs a tool; its output, or an error with its log.
fn run(tool: &'static str, package: &'static str, command: &mut Command) -> Result<String, BuildError> {
    let output = command.output().map_err(|_| BuildError::Missing { tool, package })?;
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    if output.status.success() {
        Ok(text)
    } else {
        Err(BuildError::Failed { tool, log: text })
    }
}

fn io(path: &Path, error: std::io::Error) -> BuildError {
    BuildError::Io {
        path: path.display().to_string(),
        error,
    }
}

/// FNV-1a of 128 bits: a cache key, the same on every machine and compiler.
fn hash(text: &str) -> u128 {
    text.bytes().fold(0x6c62272e07bb014262b821756295c58d, |h, b| {
        (h ^ u128::from(b)).wrapping_mul(0x0000000001000000000000000000013B)
    })
}
