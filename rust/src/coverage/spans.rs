//! Sums over labelled spans.

/// A labelled span. The order is by start, then by end, then by label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelledSpan {
    /// The first word.
    pub start: u32,
    /// One past the last word.
    pub end: u32,
    /// The label.
    pub label: u32,
}

/// A sum for each labelled span, in ascending order.
#[derive(Debug, Clone, Default)]
pub(super) struct SpanSums(Vec<(LabelledSpan, f64)>);

impl SpanSums {
    /// Add the values of spans, times a factor; of a span that occurs twice, only the first one.
    pub(super) fn add(&mut self, factor: f64, spans: impl Iterator<Item = (LabelledSpan, f64)>) {
        let mut added: Vec<_> = spans.map(|(span, value)| (span, factor * value)).collect();
        added.sort_by_key(|entry| entry.0);
        added.dedup_by_key(|entry| entry.0);
        if self.0.is_empty() {
            self.0 = added;
            return;
        }
        let before = std::mem::take(&mut self.0);
        self.0.reserve_exact(before.len() + added.len());
        let mut added = added.into_iter().peekable();
        for (span, sum) in before {
            while let Some(entry) = added.next_if(|entry| entry.0 < span) {
                self.0.push(entry);
            }
            let more = added.next_if(|entry| entry.0 == span).map_or(0.0, |entry| entry.1);
            self.0.push((span, sum + more));
        }
        self.0.extend(added);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (LabelledSpan, f64)> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn get(&self, span: LabelledSpan) -> f64 {
        self.0.binary_search_by_key(&span, |entry| entry.0).map_or(0.0, |place| self.0[place].1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn span() -> impl Strategy<Value = LabelledSpan> {
        (0u32..4, 1u32..4, 0u32..3).prop_map(|(start, width, label)| LabelledSpan {
            start,
            end: start + width,
            label,
        })
    }

    proptest! {
        #[test]
        fn sums_are_those_of_a_map(
            tables in proptest::collection::vec(
                (0.5..2.0, proptest::collection::vec((span(), 0.0..1.0), 0..20)), 0..5
            ),
        ) {
            let (mut sums, mut expected) = (SpanSums::default(), BTreeMap::new());
            for (factor, table) in tables {
                sums.add(factor, table.iter().copied());
                let mut own = BTreeMap::new();
                for (span, value) in table {
                    own.entry(span).or_insert(factor * value);
                }
                for (span, value) in own {
                    *expected.entry(span).or_insert(0.0) += value;
                }
            }
            prop_assert_eq!(sums.iter().collect::<Vec<_>>(), expected.clone().into_iter().collect::<Vec<_>>());
            for (span, value) in expected {
                prop_assert_eq!(sums.get(span), value);
                prop_assert_eq!(sums.get(LabelledSpan { label: 9, ..span }), 0.0);
            }
        }
    }
}
