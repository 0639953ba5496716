//! The tags that features use: the most probable ones of the pruned chart.

use super::tokens::TokenAttributes;
use super::weights::CrfModel;
use crate::chart::Chart;

/// The words of a sentence with their most probable tags according to the chart.
pub fn tagged(
    model: &CrfModel,
    sentence: &[TokenAttributes],
    chart: &Chart,
) -> Vec<TokenAttributes> {
    let mut sums: Vec<(u32, f64)> = Vec::new();
    let tag = |(position, token): (usize, &TokenAttributes)| {
        sums.clear();
        for item in chart.items(chart.cells().index(position, position + 1)) {
            let labels = model.labels.of_kind(model.labels.kind(chart.symbol(item)));
            // The coarsest label of a preterminal is its tag.
            let Some(&tag) = labels.last() else { continue };
            match sums.iter_mut().find(|sum| sum.0 == tag) {
                Some(sum) => sum.1 += chart.posterior(item),
                None => sums.push((tag, chart.posterior(item))),
            }
        }
        let best = sums.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        best.map_or(*token, |(tag, _)| token.with_tag(tag))
    };
    sentence.iter().enumerate().map(tag).collect()
}
