//! Which types the parameters of templates stand for.

use crate::{
    cuda::lexer::Token,
    scene::draft::{
        code::{LONGEST, Span},
        host::{Host, place::Place},
    },
};

/// Template arguments that are those of templates around them, at most so many.
const DEEPEST: usize = 24;

impl<'s> Host<'s> {
    /// `tokens` with the types that the parameters of the template around a place stand for; `None` where there are
    /// none such among them.
    pub(in crate::scene::draft) fn with_types(
        &self,
        tokens: &[Token<'s>],
        place: &Place<'_, 's>,
    ) -> Option<Vec<Token<'s>>> {
        let is_type =
            |token: &Token<'s>| token.is_word() && self.type_parameters.contains(token.text);
        if self.type_parameters.is_empty() || tokens.len() > LONGEST {
            return None;
        }
        tokens.iter().find(|token| is_type(token))?;
        self.look(tokens.len())?;
        let mut found: Vec<Token<'s>> = Vec::new();
        // The places say which signs are one operator.
        let (mut end, mut end_there) = (0, usize::MAX);
        for token in tokens.iter().take(LONGEST) {
            let meant = is_type(token).then(|| self.type_of_parameter(token, place, 0)).flatten();
            let meant =
                meant.as_ref().map_or(std::slice::from_ref(token), |span| self.tokens(span));
            for own in meant {
                let is_joined = own.offset == end_there;
                end_there = own.offset + own.text.len();
                let offset = end + usize::from(!is_joined);
                end = offset + own.text.len();
                found.push(Token { offset, ..*own });
            }
            end_there = token.offset + token.text.len();
        }
        Some(found)
    }

    /// Where the type stands that a template's parameter is at a place.
    pub(in crate::scene::draft) fn type_of_parameter(
        &self,
        token: &Token<'s>,
        place: &Place<'_, 's>,
        depth: usize,
    ) -> Option<Span> {
        let (span, outer) = self.template_argument_of(token.text, place)?;
        let inner = match self.tokens(&span) {
            [inner] if depth < DEEPEST => self.type_of_parameter(inner, &outer, depth + 1),
            _ => None,
        };
        Some(inner.unwrap_or(span))
    }
}
