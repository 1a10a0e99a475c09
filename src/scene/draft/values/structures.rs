//! Structures that host code gives kernels by value.

use crate::{
    cuda::{
        Held, Member, Pointee,
        lexer::{Token, Tokens},
    },
    element::{Element, Scalar},
    scene::{
        draft::{
            code::{
                Span,
                members::MOST_FIELDS,
                variables::{Definition, Id, Value},
            },
            expression::{
                cpp_number::{Number, Type},
                told::Told,
            },
            host::{
                Host,
                place::{Look, Place},
            },
        },
        operator::Operator,
    },
};

/// Changes of a field that come behind one another, at most so many, and structures that are one another's.
const DEEPEST: usize = 24;
/// Fields that are computed from others, at most so many behind one another.
const MOST_NESTED: usize = 8;

/// A field of a structure that a kernel is given.
pub(in crate::scene::draft) struct Field<'s> {
    pub(in crate::scene::draft) path: String,
    pub(in crate::scene::draft) given: Given<'s>,
}

/// What a field is given.
pub(in crate::scene::draft) enum Given<'s> {
    Known(String),
    /// What stands for it where that is not known.
    Unknown(String),
    /// A pointer, by the name of the variable that it counts as.
    Pointer(&'s str, Pointee),
    /// Nothing that a manifest says.
    Nothing,
}

/// What the host gives the fields of a parameter of the type `name`, for which it gives its `variable` at a place, and
/// whether that is sure; `None` where nothing is known of them.
pub(in crate::scene::draft) fn fields<'s>(
    host: &Host<'s>,
    name: &str,
    variable: &str,
    place: &Place<'_, 's>,
) -> Option<(Vec<Field<'s>>, bool)> {
    let members = host.structures.members(name, MOST_FIELDS).filter(|found| !found.is_empty())?;
    let (fields, is_sure) = host.surely(|host| {
        let found = host.structure_of(variable, place);
        let field = |(index, member): (usize, &Member)| {
            let given = match &member.held {
                Held::Element(element) => {
                    let value = found.as_ref().and_then(|(id, there)| {
                        value_at(host, &members, index, *id, there, 0)?.written(host, element)
                    });
                    match value {
                        Some(value) => Given::Known(value),
                        // What is not said of an array is zero.
                        None if member.is_array => Given::Nothing,
                        None => Given::Unknown(zero(element)),
                    }
                }
                Held::Pointer(to) => {
                    let own = host.member_of(variable, &member.path, place.at);
                    own.map_or(Given::Nothing, |own| Given::Pointer(own, to.clone()))
                }
                Held::Unknown => Given::Nothing,
            };
            Field { path: member.path.clone(), given }
        };
        members.iter().enumerate().map(field).collect::<Vec<_>>()
    });
    Some((fields, is_sure))
}

/// The same where the structure is made of a list at the place itself: `Twice{3}`, `Twice(3)`.
pub(in crate::scene::draft) fn fields_made<'s>(
    host: &Host<'s>,
    name: &str,
    span: &Span,
    place: &Place<'_, 's>,
) -> Option<(Vec<Field<'s>>, bool)> {
    let members = host.structures.members(name, MOST_FIELDS).filter(|found| !found.is_empty())?;
    let (_, parts) = host.made_at(span).filter(|(of, _)| !host.constructed.contains(of))?;
    let (fields, is_sure) = host.surely(|host| {
        let values = listed(host, &members, &parts);
        let field = |(index, member): (usize, &Member)| {
            let value = values.get(index).cloned().flatten();
            let given = match &member.held {
                Held::Element(element) => {
                    let value = value.and_then(|value| written(host, element, &value, place));
                    value.map_or_else(|| Given::Unknown(zero(element)), Given::Known)
                }
                Held::Pointer(to) => {
                    let pointer = value.and_then(|value| host.base(&value));
                    pointer.map_or(Given::Nothing, |own| Given::Pointer(own, to.clone()))
                }
                Held::Unknown => Given::Nothing,
            };
            Field { path: member.path.clone(), given }
        };
        members.iter().enumerate().map(field).collect::<Vec<_>>()
    });
    Some((fields, is_sure))
}

impl<'s> Host<'s> {
    /// The structure that all of `span` makes, `name{parts}`, and of what.
    pub(in crate::scene::draft) fn made_at(&self, span: &Span) -> Option<(&'s str, Vec<Span>)> {
        let [name, open, .., close] = self.tokens(span) else { return None };
        let is_list = matches!((open.text, close.text), ("(", ")") | ("{", "}"));
        let is_structure = || self.structures.members(name.text, 1).is_some();
        (is_list && is_structure()).then(|| {
            let inner = span.start + 2..span.end - 1;
            (name.text, if inner.is_empty() { Vec::new() } else { self.parts(inner) })
        })
    }

    /// The structure that a name stands for at a place: what a call gives, or what a pointer points to. With it where
    /// it has that name.
    pub(in crate::scene::draft) fn structure_of<'h>(
        &'h self,
        name: &str,
        place: &Place<'h, 's>,
    ) -> Option<(Id, Place<'h, 's>)> {
        let (mut id, mut place) = (self.visible(name, place.at)?, place.clone());
        for _ in 0..DEEPEST {
            let variable = self.variables.get(id);
            if self.may_write_through(id, place.at) {
                self.doubt();
            }
            let given = match self.is_set_again(id, place.at) {
                true => None,
                false => self.argument_of(variable.name, &place),
            };
            let is_pointer = variable.declared.is_indirect && !variable.declared.is_reference;
            let next = match given {
                Some(given) => Some((given, None)),
                None if is_pointer => {
                    let set = self.set_to(id, place.at)?;
                    let Value::Expression(span) = &set.value else { return None };
                    let there = Place { at: set.at, ..place.clone() };
                    Some(((span.clone(), there), Some(span.end)))
                }
                None => None,
            };
            let Some(((span, there), pointed)) = next else { return Some((id, place)) };
            (id, place) = (self.visible(self.base(&span)?, there.at)?, there);
            // It has the numbers that it had when the pointer was set, unless it is set later.
            let is_later = |set: &Definition| pointed.is_some_and(|pointed| set.at > pointed);
            if self.variables.get(id).definitions.iter().any(is_later) {
                self.doubt();
            }
        }
        None
    }

    /// Whether what a pointer points to may be written to through it before `at` is reached.
    fn may_write_through(&self, id: Id, at: usize) -> bool {
        let around = self.regions.around(at).filter_map(|(_, region)| region.repeated());
        let around: Vec<Span> = around.collect();
        let is_lambda = self.regions.lambda(at).is_some();
        self.look(self.mentions.len()).is_none()
            || self.mentions.iter().filter(|own| own.id == id).any(|own| {
                let before = self.code.text_before(own.at);
                // The pointer itself is set there.
                let is_set = self.text_at(own.at + 1) == "=" && before != "*";
                let is_before = own.at < at || around.iter().any(|span| span.contains(&own.at));
                !is_set && (is_before || is_lambda)
            })
    }

    /// Whether a constructor makes the fields of a variable of what it is given.
    pub(in crate::scene::draft) fn is_constructed(&self, id: Id) -> bool {
        let words = &self.variables.get(id).declared.words;
        words.iter().any(|word| self.constructed.contains(word))
    }

    /// The variable that the pointer `field` of the structure `variable` counts as.
    pub(in crate::scene::draft) fn member_of(
        &self,
        variable: &str,
        field: &str,
        at: usize,
    ) -> Option<&'s str> {
        let members = &self.variables.get(self.visible(variable, at)?).members;
        let mut names = members.iter().map(|member| self.variables.get(*member).name);
        names.find(|member| member.split_once('.').is_some_and(|(_, own)| own == field))
    }

    /// The number of a field at a place.
    pub(in crate::scene::draft) fn told_member(
        &self,
        of: &str,
        path: &str,
        look: &Look<'_, '_, 's>,
    ) -> Option<Told> {
        if self.nested.get() >= MOST_NESTED {
            return None;
        }
        self.nested.set(self.nested.get() + 1);
        let told = self.member_at(of, path, look.place).and_then(|(found, element)| {
            let told = match found {
                Found::Written(span, there) => {
                    let (depth, nested) = (look.depth + 1, look.nested);
                    let look = Look { place: &there, given: None, depth, nested };
                    self.told_of(self.code.get(span)?, &look)?
                }
                Found::Computed(number) => Told::Number(number),
            };
            self.converted(told, Type::of_element(element)?)
        });
        self.nested.set(self.nested.get() - 1);
        told
    }

    /// Where the number of a field stands.
    pub(in crate::scene::draft) fn written_member<'h>(
        &'h self,
        of: &str,
        path: &str,
        place: &Place<'h, 's>,
    ) -> Option<(Span, Place<'h, 's>)> {
        match self.member_at(of, path, place)?.0 {
            Found::Written(span, there) => Some((span, there)),
            Found::Computed(_) => None,
        }
    }

    fn member_at<'h>(
        &'h self,
        of: &str,
        path: &str,
        place: &Place<'h, 's>,
    ) -> Option<(Found<'h, 's>, Element)> {
        let (id, place) = self.structure_of(of, place)?;
        let words = &self.variables.get(id).declared.words;
        let members = words.iter().find_map(|word| self.structures.members(word, MOST_FIELDS))?;
        let index = members.iter().position(|member| member.path == path)?;
        let Held::Element(element) = members[index].held else { return None };
        Some((value_at(self, &members, index, id, &place, 0)?, element))
    }
}

/// What a field has.
enum Found<'h, 's> {
    /// What stands there.
    Written(Span, Place<'h, 's>),
    /// What operators make of what it had.
    Computed(Number),
}

impl<'s> Found<'_, 's> {
    fn number(&self, host: &Host<'s>) -> Option<Number> {
        match self {
            Self::Written(span, there) => host.number_at(span, there),
            Self::Computed(number) => Some(*number),
        }
    }

    /// In the manifest, as an element of this type.
    fn written(&self, host: &Host<'s>, element: &Element) -> Option<String> {
        match self {
            Self::Written(span, there) => written(host, element, span, there),
            Self::Computed(number) => {
                let told = Told::Number(*number);
                told.written_as(&told)
            }
        }
    }
}

/// What the field at `index` of a variable has at a place.
fn value_at<'h, 's>(
    host: &'h Host<'s>,
    members: &[Member],
    index: usize,
    id: Id,
    place: &Place<'h, 's>,
    depth: usize,
) -> Option<Found<'h, 's>> {
    let member = &members[index];
    let found = host.field(id, &member.path, place.at).filter(|_| depth < DEEPEST);
    let (set, is_alone) = found?;
    let there = Place { at: set.at, ..place.clone() };
    let changed = |operator: Operator, by: Number| {
        let Held::Element(element) = member.held else { return None };
        let of = Type::of_element(element)?;
        let before = value_at(host, members, index, id, &there, depth + 1)?;
        let before = before.number(host)?.to(of)?;
        Some(Found::Computed(operator.apply(before, by)?.to(of)?))
    };
    let written = |span: Span| Found::Written(span, there.clone());
    match &set.value {
        Value::Expression(span) if is_alone => Some(written(span.clone())),
        // A copy of another one.
        Value::Expression(span) | Value::Swapped(span) if !is_alone => {
            let (name, there) = match host.returned_by(span, &there) {
                Some(returned) => returned,
                None => (host.base(span)?, there),
            };
            let (other, there) = host.structure_of(name, &there)?;
            value_at(host, members, index, other, &there, depth + 1)
        }
        Value::List(parts) if !is_alone && !host.is_constructed(id) => {
            listed(host, members, parts).get(index).cloned().flatten().map(written)
        }
        Value::Compound(operator, by) if is_alone => {
            changed(*operator, host.number_at(by, &there)?)
        }
        Value::Count(by) if is_alone => changed(Operator::Add, Number::int(*by)),
        Value::Expression(_)
        | Value::Swapped(_)
        | Value::List(_)
        | Value::Compound(..)
        | Value::Count(_)
        | Value::Behind(..)
        | Value::Part
        | Value::Given(_)
        | Value::Unknown => None,
    }
}

/// Where each field's value stands in a list, where it has one: by the fields' order, or by their names, as in
/// `{ .n = 4 }`.
fn listed(host: &Host<'_>, fields: &[Member], parts: &[Span]) -> Vec<Option<Span>> {
    let tokens = |part: &Span| host.code.get(part.clone()).unwrap_or_default();
    let named = |field: &Member| {
        parts.iter().find_map(|part| match tokens(part) {
            [dot, name, equals, ..]
                if (dot.text, name.text, equals.text) == (".", &field.path, "=") =>
            {
                Some(part.start + 3..part.end)
            }
            _ => None,
        })
    };
    let are_named =
        parts.iter().any(|part| tokens(part).first().is_some_and(|token| token.text == "."));
    match are_named {
        true => fields.iter().map(named).collect(),
        // Of structures within it the places of their parts are not known.
        false if parts.len() <= fields.len() && fields.iter().all(|f| !f.path.contains('.')) => {
            parts.iter().cloned().map(Some).collect()
        }
        false => Vec::new(),
    }
}

/// A field's value in the manifest.
fn written<'s>(
    host: &Host<'s>,
    element: &Element,
    span: &Span,
    place: &Place<'_, 's>,
) -> Option<String> {
    let number = |span: &Span| {
        let of = Element::scalar(element.scalar);
        let number = host.number_at(span, place)?;
        let given = Type::of_element(of).map_or(Some(number), |of| number.to(of))?;
        Told::Number(number).written_as(&Told::Number(given))
    };
    if element.lanes == 1 {
        return number(span);
    }
    // `make_float3(1, 2, 3)`, `{1, 2, 3}`
    let tokens: &[Token<'_>] = host.code.get(span.clone())?;
    let open = tokens.iter().position(|token| matches!(token.text, "(" | "{"))?;
    let inner = span.start + open + 1..span.end.checked_sub(1)?;
    let parts = host.parts(inner);
    let numbers: Vec<String> = parts.iter().map(number).collect::<Option<_>>()?;
    (numbers.len() == usize::from(element.lanes)).then(|| format!("[{}]", numbers.join(", ")))
}

fn zero(element: &Element) -> String {
    match element {
        Element { scalar: Scalar::Bool, lanes: 1 } => "false".to_owned(),
        Element { lanes: 1, .. } => "0".to_owned(),
        Element { lanes, .. } => format!("[{}]", vec!["0"; usize::from(*lanes)].join(", ")),
    }
}
