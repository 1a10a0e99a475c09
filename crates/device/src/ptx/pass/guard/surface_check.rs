//! The check of an access to a surface: one with `.trap` outside the surface, which would end the launch, is left out
//! and told.

use super::CheckKind;
use super::code::when;
use super::record::AccessRecord;
use super::surface::{SurfaceAccess, is_multiple, width};
use super::weaver::Weaver;
use crate::ptx::inst::Instruction;
use crate::ptx::modifier::{Clamp, Geometry};
use crate::ptx::operand::{Operand, Reg};
use crate::ptx::types::Type;

impl Weaver<'_> {
    /// Compares an access with its surface, and writes or notes that it is outside. Gives the predicate that it is.
    pub(super) fn check_surface(&mut self, access: &SurfaceAccess, i: &Instruction) -> Reg {
        let [first, rows] = self.halves(access.word());
        let slice = access.slices().map(|(z, word)| [z.clone(), self.halves(word)[0].clone()]);
        let mut pairs = Vec::new();
        if access.traps {
            pairs.push(("hs", [access.x.clone(), first.clone()]));
            pairs.push(("hs", [access.y.clone(), rows.clone()]));
            pairs.extend(slice.clone().map(|pair| ("hs", pair)));
        }
        if !access.is_aligned {
            let low = [access.x.clone(), Operand::Int((access.bytes - 1).into())];
            let low = self.code.give("and.b32", Type::B32, low);
            pairs.push(("ne", [Operand::Reg(low), Operand::Int(0)]));
        }
        let mut fail = self.any(pairs);
        if let Some(guard) = i.guard {
            let both = [Operand::Reg(fail), self.predicate(guard)];
            fail = self.code.give("and.pred", Type::Pred, both);
        }
        let check = self.push_check(CheckKind::Surface {
            write: i.op.facts().changes,
            bytes: access.bytes,
            location: i.location,
            line: i.line,
        });
        if self.noted.is_some() {
            self.note_surface(access, check, fail);
            return fail;
        }
        let (write, back) = (self.code.label(), self.code.label());
        self.code.jump(when(fail), write);
        self.code.place(back);
        let recorder = self.recorder;
        let [x, y] = [access.x.clone(), access.y.clone()];
        self.code.aside(|code| {
            code.place(write);
            let record = AccessRecord::of_surface(code, [x, y], [first, rows], slice);
            recorder.record(code, Operand::Int(check.into()), &record);
            code.jump(None, back);
        });
        fail
    }

    /// Gives a predicate: whether a comparison of one of the pairs holds, of which there are some.
    fn any(&mut self, pairs: Vec<(&str, [Operand; 2])>) -> Reg {
        let mut any: Option<Reg> = None;
        for (order, [a, b]) in pairs {
            any = Some(match any {
                None => self.code.give(&format!("setp.{order}.u32"), Type::Pred, [a, b]),
                Some(others) => {
                    let operands = [a, b, Operand::Reg(others)];
                    self.code.give(&format!("setp.{order}.or.u32"), Type::Pred, operands)
                }
            });
        }
        any.unwrap_or_else(|| self.code.reg(Type::Pred))
    }

    /// An access outside a surface reads zero or is left out, instead of ending the launch, whichever surface it is.
    /// One that is not aligned would end it all the same: it is made at the place before.
    pub(super) fn untrap(&mut self, i: &mut Instruction) {
        let Some(surface) = i.op.surface_mut() else { return };
        if matches!(surface.clamp, None | Some(Clamp::Trap)) {
            surface.clamp = Some(Clamp::Zero);
        }
        let bytes = width(surface);
        let lane = match surface.geometry {
            Geometry::A1d | Geometry::A2d => 1,
            Geometry::D1 | Geometry::D2 | Geometry::D3 | Geometry::Cube => 0,
            Geometry::Acube | Geometry::D2ms | Geometry::A2dms => 0,
        };
        if surface.formatted || bytes <= 1 {
            return;
        }
        let x = match i.src.get_mut(1) {
            Some(Operand::Vector(lanes)) => lanes.get_mut(lane),
            x => x,
        };
        let Some(x) = x.filter(|x| !is_multiple(x, bytes, |reg| self.origins.of(reg).zeros)) else {
            return;
        };
        let before = [x.clone(), Operand::Int(-i64::from(bytes))];
        *x = Operand::Reg(self.code.give("and.b32", Type::B32, before));
    }
}
