//! Covering arrays of strength two: few combinations in which every pair of settings occurs.
//!
//! A fault of a hashed structure shows where two settings meet (a weak hasher and consecutive keys, a prime size and
//! a small rate) far more often than where three do; all pairs need tens of cases where the full product needs
//! thousands. The greedy construction is that of Cohen, Dalal, Fredman and Patton, "The AETG system", IEEE TSE 1997,
//! made deterministic.

/// Combinations of `levels.len()` settings, setting `i` out of `0..levels[i]`, such that each pair of settings that
/// any allowed combination holds occurs in at least one of them.
pub(crate) fn pairs(levels: &[usize], allowed: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
    let all: Vec<Vec<usize>> =
        product(levels).into_iter().filter(|combination| allowed(combination)).collect();
    let mut missing: Vec<Pair> = all.iter().flat_map(|combination| pairs_of(combination)).collect();
    missing.sort_unstable();
    missing.dedup();
    let mut chosen = Vec::new();
    while let Some(best) = all.iter().rev().max_by_key(|candidate| gain(candidate, &missing)) {
        if gain(best, &missing) == 0 {
            break;
        }
        missing.retain(|pair| !holds(best, *pair));
        chosen.push(best.clone());
    }
    chosen
}

/// Two settings: (dimension, level) of each, the lower dimension first.
type Pair = ((usize, usize), (usize, usize));

fn pairs_of(combination: &[usize]) -> impl Iterator<Item = Pair> {
    let settings = move |from| combination.iter().copied().enumerate().skip(from);
    settings(0).flat_map(move |first| settings(first.0 + 1).map(move |second| (first, second)))
}

fn holds(combination: &[usize], ((first, level), (second, other)): Pair) -> bool {
    combination[first] == level && combination[second] == other
}

fn gain(combination: &[usize], missing: &[Pair]) -> usize {
    pairs_of(combination).filter(|pair| missing.binary_search(pair).is_ok()).count()
}

fn product(levels: &[usize]) -> Vec<Vec<usize>> {
    levels.iter().fold(vec![vec![]], |combinations, &count| {
        let extend = |combination: Vec<usize>| {
            (0..count).map(move |level| [combination.as_slice(), &[level]].concat())
        };
        combinations.into_iter().flat_map(extend).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_allowed_pair_occurs() {
        let levels = [4, 3, 5, 2];
        let allowed = |combination: &[usize]| combination[0] != combination[2];
        let chosen = pairs(&levels, allowed);
        let wanted: Vec<Pair> = product(&levels)
            .iter()
            .filter(|combination| allowed(combination))
            .flat_map(|combination| pairs_of(combination).collect::<Vec<_>>())
            .collect();
        assert!(
            wanted.iter().all(|&pair| chosen.iter().any(|combination| holds(combination, pair)))
        );
        assert!(chosen.iter().all(|combination| allowed(combination)));
    }

    #[test]
    fn few_combinations_suffice() {
        // 4 * 5 pairs of the two widest settings are the least; the full product has 120.
        assert!((20..=26).contains(&pairs(&[4, 3, 5, 2], |_| true).len()));
    }
}
