//! What may run the kernels: the devices of this machine, and the interpreter of the CPU device.

use std::{
    fmt,
    sync::mpsc::{self, Receiver},
    thread,
};

use super::wake::Wake;
use crate::{
    device::{Choice, Device, DeviceInfo, DeviceKind},
    session::Engine,
};

/// What runs the kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct Runner {
    /// The device, as `--device` names it.
    pub selector: String,
    /// What it is called.
    pub name: String,
    /// The device.
    pub choice: Choice,
    /// Its own speed, or the interpreter.
    pub engine: Engine,
}

impl fmt::Display for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.engine {
            Engine::Device => write!(f, "{} ({})", self.name, self.selector),
            Engine::Interpreter => write!(f, "Interpreter ({})", self.selector),
            Engine::Checker => write!(f, "Interpreter that checks ({})", self.selector),
        }
    }
}

impl Runner {
    /// That of a device that is open.
    pub fn of(info: &DeviceInfo, engine: Engine) -> Self {
        Self {
            selector: info.selector.clone(),
            name: info.name.clone(),
            choice: info.selector.parse().unwrap_or_default(),
            engine,
        }
    }

    /// One that is nowhere.
    #[cfg(test)]
    pub fn test() -> Self {
        let (selector, name) = ("cpu".into(), "A processor".into());
        Self { selector, name, choice: Choice::Cpu, engine: Engine::Device }
    }

    /// Whether it needs no GPU.
    pub fn is_cpu(&self) -> bool {
        self.choice == Choice::Cpu
    }

    /// All of this machine. It takes its time where the driver is loaded first.
    fn all() -> Runners {
        let inventory = Device::all();
        let all = inventory.devices.iter().flat_map(|info| {
            let engines: &[Engine] = match info.kind {
                DeviceKind::Nvidia => &[Engine::Device],
                DeviceKind::Cpu => &[Engine::Device, Engine::Interpreter, Engine::Checker],
            };
            engines.iter().map(|engine| Self::of(info, *engine))
        });
        Runners { all: all.collect(), missing: inventory.nvidia_missing, coming: None }
    }
}

/// What there is to choose from.
#[derive(Debug, Default)]
pub struct Runners {
    /// All that may run the kernels.
    pub all: Vec<Runner>,
    /// Why there is no NVIDIA GPU, where there is none.
    pub missing: Option<String>,
    coming: Option<Receiver<Self>>,
}

impl Runners {
    /// Looks for them on a thread.
    pub fn look(wake: Wake) -> Self {
        let (sender, coming) = mpsc::channel();
        let begun = thread::Builder::new().name("devices".into()).spawn(move || {
            // The window may be gone.
            let _ = sender.send(Runner::all());
            wake();
        });
        Self { coming: begun.is_ok().then_some(coming), ..Self::default() }
    }

    /// These.
    #[cfg(test)]
    pub fn with(all: Vec<Runner>) -> Self {
        Self { all, ..Self::default() }
    }

    /// Takes what was found; gives whether that is new.
    pub fn take(&mut self) -> bool {
        let found = self.coming.as_ref().and_then(|coming| coming.try_recv().ok());
        let is_new = found.is_some();
        *self = found.unwrap_or_else(|| std::mem::take(self));
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_runs_kernels_in_three_ways() {
        let mut runners = Runners::look(crate::studio::keeper::no_wake());
        while !runners.take() {
            thread::sleep(std::time::Duration::from_millis(1));
        }
        let cpu: Vec<&Runner> = runners.all.iter().filter(|of| of.is_cpu()).collect();
        assert_eq!(cpu.len(), 3);
        assert!(
            cpu[0].to_string().ends_with("(cpu)") && cpu[1].to_string().starts_with("Interpreter")
        );
        assert!(
            runners.all.len() > 3 || runners.missing.is_some(),
            "why there is no other is said"
        );
        assert!(!runners.take());
    }
}
