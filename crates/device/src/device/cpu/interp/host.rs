//! What CUDA itself provides: `printf`, `assert`, `malloc` and `free`.

use super::{
    env::Env,
    machine::{Machine, Step, Trouble},
    program::{Call, Host},
    thread::Thread,
};
use crate::device::{
    FaultKind,
    cpu::printf::{MAX_STRING, PrintedAt, formatted},
};

impl Machine {
    pub(super) fn host(&mut self, env: &Env, thread: &mut Thread, call: &Call, host: Host) -> Step {
        let arguments = call.sizes.iter().zip(&call.addresses);
        let values = arguments.clone().take(call.params);
        let values = values.map(|(bytes, slot)| self.load_bytes(thread.slot(*slot), *bytes));
        let values: Vec<u64> = values.collect::<Step<_>>()?;
        let value = |at: usize| values.get(at).copied().unwrap_or(0);
        let result = match host {
            Host::Printf => {
                let load =
                    |at: u64, bytes: u64| self.reached(env, thread, at, bytes as u32).unwrap_or(0);
                let format = (value(0) != 0).then(|| self.string(env, thread, value(0)));
                let string = |at| self.bytes(env, thread, at);
                let (text, count) =
                    formatted(format.as_deref(), self.prints.too_long(), value(1), load, string);
                self.prints.print(&text, PrintedAt { block: env.ctaid, thread: thread.tid });
                u64::from(count as u32)
            }
            Host::Assert => {
                let [message, file, function] =
                    [0, 1, 3].map(|at| self.string(env, thread, value(at)));
                let line = value(2) as u32;
                let text = format!("`{message}` in {function} ({file}:{line})");
                return Err(FaultKind::Assert(text).into());
            }
            Host::Malloc => self.malloc(value(0)),
            Host::Free => {
                let address = value(0);
                if address != 0 && !self.shared.arena.heap_free(address) {
                    let access = Some((address, 1, Some("heap")));
                    return Err(Trouble { kind: FaultKind::InvalidFree, access });
                }
                0
            }
        };
        for (bytes, slot) in arguments.skip(call.params) {
            self.store_bytes(thread.slot(*slot), *bytes, result)?;
        }
        Ok(())
    }

    fn malloc(&mut self, bytes: u64) -> u64 {
        let address = match bytes {
            0 => None,
            _ => self.shared.arena.heap_alloc(bytes),
        };
        let Some(address) = address else { return 0 };
        if let Some(watch) = &mut self.watch {
            watch.allocated(address, bytes);
        }
        address
    }

    /// What lies at a generic address that the thread reaches.
    fn reached(&self, env: &Env, thread: &Thread, address: u64, bytes: u32) -> Option<u64> {
        let reaches = self.reaches(env, thread, address, bytes.into(), false);
        if reaches { self.shared.arena.load(address, bytes) } else { None }
    }

    fn bytes(&self, env: &Env, thread: &Thread, address: u64) -> Vec<u8> {
        let bytes = (0..MAX_STRING as u64)
            .map_while(|at| self.reached(env, thread, address.wrapping_add(at), 1))
            .map(|byte| byte as u8);
        bytes.take_while(|byte| *byte != 0).collect()
    }

    fn string(&self, env: &Env, thread: &Thread, address: u64) -> String {
        String::from_utf8_lossy(&self.bytes(env, thread, address)).into_owned()
    }
}
