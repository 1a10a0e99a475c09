//! The passes of a drafted manifest, in the groups that loops of the host become.

use std::fmt::Write as _;

use super::{
    Draft, FILL_IN,
    arguments::Wanted,
    guess::Guess,
    header, nameless_instance, shape,
    spot::{Spot, groups},
};
use crate::{
    cuda::KernelParameter,
    scene::{
        comparison::Comparison,
        draft::{
            code::{Span, pointers::Offset, regions::Kind},
            expression::{
                cpp_number::Number,
                syntax::Expression,
                text::{quoted, quoted_text},
                told::Told,
            },
            host::{
                Assumes, Host, MOST_LAUNCHES, done::Act, launch::Launch, loop_header::Until,
                place::Place,
            },
            values::{
                conditions::When,
                implied::Implied,
                loops::{MOST_LOOPS, MOST_ROUNDS, counter},
            },
        },
    },
};

/// The most rounds of a loop whose end kernels find, where the host says no more of it.
const SOME_ROUNDS: i128 = 1000;

impl<'a, 's> Draft<'a, 's> {
    /// A pass for each launch and each copy of the host code, in groups as its loops have them.
    pub(in crate::scene::draft) fn launches(&mut self) {
        self.pairs();
        let host = self.host;
        if !host.is_all_done {
            self.remark(format!(
                "{FILL_IN}: more is launched, by functions that call themselves or many others"
            ));
        }
        if host.is_of_namesakes {
            self.remark(format!("{FILL_IN}: which of several functions of one name are called"));
        }
        for name in &host.called_indirectly {
            self.remark(format!("{FILL_IN}: what `{name}` does where its address is called"));
        }
        for implied in host.misplaced() {
            let text = match implied {
                Implied::Constructor(name) => format!("what `{name}` does where objects are made"),
                Implied::Destructor(name) => format!("what `~{name}` does where objects end"),
                Implied::Lambda => "what a lambda does where it is called".to_owned(),
                Implied::Operator => "what an operator does where it is used".to_owned(),
            };
            self.remark(format!("{FILL_IN}: {text} stands at another place here"));
        }
        if !host.are_all_launches {
            self.remark(format!("{FILL_IN}: only the first {MOST_LAUNCHES} launches are here"));
        }
        self.taken = self.types_taken();
        self.assume_sizes();
        let time_place = self.time_loop();
        let time = time_place.as_ref().and_then(|place| place.loops.first().copied());
        if let Some(time) = time {
            self.remark_on_end(time);
        }
        let group = |place: &Place<'_, 's>| groups(place, 0).into_iter().next();
        let time_group = time_place.as_ref().and_then(group);
        let is_in_time = |place: &Place<'_, 's>| time_group.is_some() && group(place) == time_group;
        let once = time_place.and_then(|place| self.behind(&place));
        let steps = host.done.iter().position(|done| {
            matches!(done.act, Act::Launch(_) | Act::Transfer(_) | Act::Untold(_))
                && is_in_time(&host.place_of(done))
        });
        self.uses = self.uses_of_memory(steps.unwrap_or(0));
        let (mut open, mut is_before) = (Vec::new(), time.is_some());
        for (index, done) in host.done.iter().enumerate() {
            let mut place = host.place_of(done);
            if is_in_time(&place) {
                place.time = time.map(|time| time.region);
                is_before = false;
            }
            self.once = once.clone().filter(|_| place.time.is_none() && !is_before);
            let (when, skipped) = match (place.time, is_before) {
                (Some(_), _) => ("step", 1),
                (None, true) => ("reset", 0),
                (None, false) => ("step", 0),
            };
            let spot = Spot { index, place, when, skipped, open: &mut open };
            match done.act {
                Act::Launch(launch) => self.entry(&host.launches[launch], spot),
                Act::Transfer(_) => self.copy(spot),
                Act::Untold(_) => self.untold(index, &spot.place, skipped, spot.open),
                Act::Swap(_) => self.exchange(spot),
                Act::Allocation(_) | Act::Fill(_) => {}
                Act::Write(_) | Act::Symbol(_) => {}
            }
        }
        self.once = None;
        self.write_untold(None);
        self.remark_on_namesakes();
        self.starts();
        self.symbols();
    }

    /// Looks at all that makes out how much there is, so that a size that the file does not say is the same wherever
    /// it is used.
    fn assume_sizes(&self) {
        for (launch, place) in self.host.launched() {
            for span in &launch.shape {
                shape::written_axes(self.host, span, &place, [i64::MAX; 3], i64::MAX);
            }
        }
        for allocation in self.host.allocations.values() {
            if self.host.bytes_allocated(allocation).is_none() {
                self.host.assuming(Assumes::All, |host| host.bytes_allocated(allocation));
            }
        }
    }

    /// Notes how many threads take the arrays among what a launch is given.
    fn note_threads(&mut self, threads: Option<u64>, arguments: &[(String, Guess)]) {
        for (_, guess) in arguments {
            let name = guess.array().trim_end_matches("_next");
            if let Some(array) = self.places.get(name).map(|place| &mut self.arrays[*place]) {
                array.threads = array.threads.max(threads.unwrap_or(0));
            }
        }
    }

    /// Says so where an array is the memory of several pointers of one name.
    fn remark_on_namesakes(&mut self) {
        for name in &self.host.namesakes {
            if self.names.array(name).is_some() {
                self.remark(format!(
                    "{FILL_IN}: several pointers are called `{name}`, which are one array here"
                ));
            }
        }
    }

    /// Writes a launch with the groups that begin with it.
    fn entry(&mut self, launch: &'a Launch, mut spot: Spot<'_, 'a, 's>) {
        let place = &spot.place.clone();
        let (instance, is_sure) = self.host.surely(|_| self.instance(launch, place));
        let stem = launch.kernel.split('<').next().unwrap_or_default();
        let Some((declared, is_clear)) = self.kernel_of(launch, place) else {
            self.remark(format!(
                "{FILL_IN}: `{}` is launched, which is no kernel that is known here",
                launch.kernel
            ));
            return;
        };
        let kernel = declared.instance(&format!("{stem}{instance}"));
        if launch.arguments.iter().any(|span| self.host.is_lambda(span, place)) {
            self.remark(format!(
                "{FILL_IN}: `{}` is given a lambda, whose type has no name: a structure with the same `operator()` has one",
                launch.kernel
            ));
            return;
        }
        if kernel.template && instance.is_empty() && !kernel.has_defaults() {
            self.remarks.push(nameless_instance(&kernel.name));
            return;
        }
        if let Some(word) = self.unsaid(&instance, place) {
            self.remark(format!(
                "{FILL_IN}: `{}` is launched, whose template argument `{word}` means nothing to a kernel",
                launch.kernel
            ));
            return;
        }
        if !self.can_write(&kernel) {
            return;
        }
        let Some(mut keys) = self.when(&launch.kernel, place) else { return };
        if !is_sure {
            let name = format!("{stem}{instance}");
            self.remark(format!("{FILL_IN}: `{name}` may have other template arguments"));
        }
        self.open_groups(&mut spot);
        // Those that are structures, and their fields.
        let (mut arguments, mut fields) = (Vec::new(), Vec::new());
        let pairs = kernel.parameters.iter().zip(&launch.arguments);
        for (parameter, span) in pairs {
            let wanted = self.argument(&parameter.ctype, span, place);
            let written = self.written_argument(parameter, wanted, span, &mut fields);
            arguments.push((parameter.name.clone(), written));
        }
        keys.extend(self.clears(spot.index));
        let shape = self.shape(launch, place, &arguments);
        fields.extend_from_slice(&arguments);
        self.rows(&fields, &shape);
        self.note_threads(shape::threads(&shape), &fields);
        keys.extend(shape);
        keys.extend(launch.is_cooperative.then(|| ("cooperative", Guess::known("true"))));
        let name = self.name_of(&kernel, &instance);
        if !is_clear {
            self.remark(format!(
                "{FILL_IN}: which of several kernels that are called `{}` is launched",
                launch.kernel
            ));
        }
        self.pass(&header(spot.depth()), &name, spot.on(), &keys, &arguments);
    }

    /// An argument as it is written. Those of a structure's parts are noted as `fields`, with their own names.
    fn written_argument(
        &mut self,
        parameter: &KernelParameter,
        wanted: Wanted<'s>,
        span: &Span,
        fields: &mut Vec<(String, Guess)>,
    ) -> Guess {
        match wanted {
            Wanted::Guess(guess) => guess,
            Wanted::Texture(name) => self.texture(name, &parameter.name, &parameter.ctype),
            Wanted::Array { pointer, element, own, offset } => {
                let name = self.array_of(pointer, &own);
                let is_known = self.remark_on_type(&parameter.ctype, &name, &element)
                    && self.is_at_element(&offset, &own);
                let unknown = || Offset::Unknown(self.host.text(span));
                let offset = if is_known { offset } else { unknown() };
                let cast = (element != own).then_some(element.as_str());
                self.address(pointer, name, offset, cast)
            }
            Wanted::Structure(parts, mut is_known) => {
                let mut texts = Vec::new();
                for (path, part) in parts {
                    let guess = self.written_argument(parameter, part, span, fields);
                    is_known &= guess.open.is_none();
                    texts.push(format!("{path} = {}", guess.text));
                    fields.push((path, guess));
                }
                let text = match texts.is_empty() {
                    true => "{}".to_owned(),
                    false => format!("{{ {} }}", texts.join(", ")),
                };
                Guess::of((text, is_known), &self.host.text(span))
            }
        }
    }

    /// The keys that say when something is done that the host calls `what`; `None` where it never is.
    pub(in crate::scene::draft) fn when(
        &mut self,
        what: &str,
        place: &Place<'a, 's>,
    ) -> Option<Vec<(&'static str, Guess)>> {
        if let Some(never) = self.endless_or_none(place) {
            self.remark(format!("`{what}` is never done: {never}"));
            return None;
        }
        for level in place.levels() {
            self.remark_on_loops(what, level.at);
        }
        for level in place.levels() {
            if let Some(way) = self.host.maybe_returned_before(&level) {
                self.remark(format!("{FILL_IN}: not known whether `{what}` is done: {way}"));
            }
        }
        let (formula, mut unknown) = match self.host.when(place) {
            When::Always if self.once.is_none() => return Some(Vec::new()),
            When::Always => (None, Vec::new()),
            When::Never(reason) => {
                self.remark(format!("`{what}` is never done: {reason}"));
                return None;
            }
            When::If { formula, unknown } => (formula, unknown),
        };
        let once = self.once.clone();
        unknown.extend(once.as_ref().and_then(|once| once.open.clone()));
        let once = once.filter(|once| once.open.is_none()).map(|once| once.text);
        let text = match (once, formula) {
            (Some(once), Some(formula)) => format!("{once} && ({formula})"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "true".to_owned(),
        };
        let guess = Guess::of((quoted(&text), unknown.is_empty()), &unknown.join(", "));
        Some(vec![("only_if", guess)])
    }

    /// Which loop around a place has surely no round.
    fn endless_or_none(&self, place: &Place<'a, 's>) -> Option<String> {
        (1..=place.loops.len()).find_map(|depth| {
            let own = Place { loops: place.loops[..depth].to_vec(), ..place.clone() };
            let (rounds, is_sure) = self.host.surely(|host| host.rounds(&own));
            let is_none = rounds?.number()?.whole()? == 0 && is_sure;
            let name = place.loops[depth - 1].name;
            is_none.then(|| format!("the loop over `{name}` has no rounds"))
        })
    }

    /// Says so where something is repeated in a way that is not understood, by a `while`, whose condition is the
    /// host's, or by too many loops.
    fn remark_on_loops(&mut self, what: &str, at: usize) {
        let host = self.host;
        if host.is_in_condition_of_loop(at) {
            self.remark(format!(
                "{FILL_IN}: `{what}` is done before each round of a loop, by its condition"
            ));
        }
        let mut count = 0;
        for (place, region) in host.regions.around(at) {
            if region.repeated().is_none_or(|body| !body.contains(&at)) {
                continue;
            }
            let is_understood = host.loops.contains_key(&place);
            count += usize::from(is_understood);
            let condition = match &region.kind {
                Kind::While { .. } if is_understood => continue,
                Kind::Do { .. } if is_understood => continue,
                Kind::While { condition } => condition,
                Kind::Do { condition: Some(condition) } => condition,
                Kind::For { header, .. } if !host.loops.contains_key(&place) => {
                    let header = host.text(header);
                    self.remark(format!("{FILL_IN}: `{what}` is repeated by `for ({header})`"));
                    continue;
                }
                Kind::For { .. }
                | Kind::Do { condition: None }
                | Kind::Block
                | Kind::Lambda { .. }
                | Kind::Function { .. }
                | Kind::If { .. }
                | Kind::Switch { .. }
                | Kind::Catch => continue,
            };
            let is_once = matches!(region.kind, Kind::Do { .. })
                && host.decided(condition) == Some(false)
                && condition.len() == 1;
            if !is_once {
                let condition = host.text(condition);
                self.remark(format!(
                    "{FILL_IN}: `{what}` is repeated while `{condition}`; `repeat` and `until` would do so"
                ));
            }
        }
        if host.detours.repeated_around(at).next().is_some() {
            self.remark(format!("{FILL_IN}: `{what}` is repeated by a `goto`"));
        }
        if count > MOST_LOOPS || host.regions.is_too_deep(at) {
            self.remark(format!("{FILL_IN}: `{what}` lies in more loops than are here"));
        }
    }

    /// Writes the groups of the loops around an entry that are not open yet, and closes others.
    pub(in crate::scene::draft) fn open_groups(&mut self, spot: &mut Spot<'_, 'a, 's>) {
        let Spot { place, when, skipped, open, .. } = spot;
        let (when, skipped) = (*when, *skipped);
        let all = groups(place, skipped);
        let shared = open.iter().zip(&all).take_while(|(open, own)| open == own).count();
        open.truncate(shared);
        for (depth, opened) in all.into_iter().enumerate().skip(shared) {
            open.push(opened);
            self.write_untold(Some(open));
            let own = Place { loops: place.loops[..=depth + skipped].to_vec(), ..place.clone() };
            self.group(&own, when, depth);
        }
    }

    /// Writes the group of the innermost loop at `place`, which lies in `depth` others.
    fn group(&mut self, place: &Place<'a, 's>, on: &str, depth: usize) {
        let Some(inner) = place.loops.last() else { return };
        if let Some(until) = &inner.until {
            return self.group_until(until, place, on, depth);
        }
        let rounds = |host: &Host<'s>| {
            host.rounds(place).or_else(|| {
                host.doubt();
                host.assuming(Assumes::All, |host| host.rounds(place))
            })
        };
        let (rounds, is_sure) = self.host.surely(|host| match rounds(host)? {
            Told::Number(number) => {
                let rounds = number.whole()?;
                if !(1..=MOST_ROUNDS).contains(&rounds) {
                    host.doubt();
                }
                Some(Number::int(rounds.clamp(1, MOST_ROUNDS)).written())
            }
            Told::Formula(formula) => formula.checked(),
        });
        let _ = writeln!(self.passes, "\n{}", header(depth));
        if on != "step" && depth == 0 {
            let _ = writeln!(self.passes, "on      = \"{on}\"");
        }
        let end = self.end_of(inner);
        let is_sure = is_sure && end.is_none();
        let end = end.map_or_else(String::new, |end| format!(", which may end at {end}"));
        let what = format!("rounds of the loop over `{}`{end}", inner.name);
        let rounds = match rounds {
            Some(rounds) => Guess::of((quoted(&rounds), is_sure), &what),
            None => Guess::open("1", what),
        };
        let _ = writeln!(self.passes, "repeat  = {}{}", rounds.text, rounds.remark());
        let _ = writeln!(self.passes, "counter = \"{}\"", counter(self.host, &place.loops));
    }
}

impl<'a, 's> Draft<'a, 's> {
    /// The same of a loop that what kernels find ends.
    fn group_until(&mut self, until: &'a Until<'s>, place: &Place<'a, 's>, on: &str, depth: usize) {
        let host: &'a Host<'s> = self.host;
        let at = Place { at: until.at, ..place.clone() };
        let (array, is_sure) = self.surely(|draft| draft.known_array(until.pointer, &at));
        let number = |limit: &Expression<'s>| {
            let around = place.around_loop(place.loops.len() - 1, until.condition.start);
            host.told_at(limit, &around)?.number()
        };
        let (limit, is_told) = host.surely(|_| number(&until.limit));
        let most = until.most.as_ref().and_then(|most| number(most)?.whole());
        let most = most.filter(|most| (1..=MOST_ROUNDS).contains(most)).unwrap_or(SOME_ROUNDS);
        let _ = writeln!(self.passes, "\n{}", header(depth));
        if on != "step" && depth == 0 {
            let _ = writeln!(self.passes, "on     = \"{on}\"");
        }
        let _ = writeln!(self.passes, "repeat = {most} # {FILL_IN}: so many rounds at most");
        let condition = host.text(&until.condition);
        let Some(array) = array else {
            self.remark(format!("{FILL_IN}: a loop goes on while `{condition}`"));
            return;
        };
        let ends = match until.comparison {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterEqual,
            Comparison::LessEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessEqual,
            Comparison::GreaterEqual => Comparison::Less,
        };
        let limit_text = limit.map_or_else(|| "0".to_owned(), Number::written);
        let text = quoted_text(&format!("{array}[0] {} {limit_text}", ends.spelling()));
        let end = place.loops.last().and_then(|own| self.end_of(own));
        let is_sure = is_sure && is_told && limit.is_some() && end.is_none();
        let end = end.map_or_else(String::new, |end| format!(", or {end}"));
        let guess = Guess::of((text, is_sure), &format!("it goes on while {condition}{end}"));
        let _ = writeln!(self.passes, "until  = {}{}", guess.text, guess.remark());
    }
}
