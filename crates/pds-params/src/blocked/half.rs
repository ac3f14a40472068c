//! Half a block: four lanes of 64 bits for half of a key's positions.

/// Lanes per half block, and the number of rotations that a key chooses from.
const LANES: usize = 4;

/// Bits per lane.
const LANE_BITS: f64 = 64.0;

/// The greatest number of positions in a lane: two queries of two positions.
const MAX_POSITIONS: usize = 4;

/// The greatest number of terms of inclusion and exclusion: zero to four distinct positions in each lane.
const MAX_TERMS: usize = (MAX_POSITIONS + 1).pow(4);

/// The number of positions in each lane of a half.
pub(super) type Positions = [u32; LANES];

/// Returns the positions of a key with `probes` positions in the half, for one of its four rotations.
pub(super) fn positions(probes: u32, rotation: usize) -> Positions {
    core::array::from_fn(|lane| {
        let extra = ((lane + rotation) % LANES) < probes as usize % LANES;
        probes / 4 + u32::from(extra)
    })
}

/// Returns the probability that a key with `probes` positions in the half misses `bits[j]` given bits in each lane j.
pub(super) fn miss(probes: u32, bits: Positions) -> f64 {
    let by_rotation = |rotation| {
        let key = positions(probes, rotation);
        (0..LANES).map(|lane| lane_miss(bits[lane], key[lane])).product::<f64>()
    };
    (0..LANES).map(by_rotation).sum::<f64>() / LANES as f64
}

/// Returns the probability that `positions` uniform positions in a lane miss `bits` given bits.
fn lane_miss(bits: u32, positions: u32) -> f64 {
    let one = 1.0 - f64::from(bits) / LANE_BITS;
    (0..positions).fold(1.0, |all, _| all * one)
}

/// One term of inclusion and exclusion.
#[derive(Clone, Copy)]
struct Term {
    /// The weight of the term times `miss` to the power of the number of keys.
    value: f64,
    /// The probability that one key misses the term's bits.
    miss: f64,
}

/// The probability that a half that holds some number of keys has all bits of a query.
///
/// The terms alternate in sign. Their weights sum to at most 256 for one query, which costs two to three digits of the
/// probability. At the relevant loads the probability is above one in a thousand.
pub(super) struct Coverage {
    terms: [Term; MAX_TERMS],
    len: usize,
}

impl Coverage {
    /// Starts at `keys` keys of `probes` positions each, for a query with the given positions.
    pub(super) fn new(query: Positions, probes: u32, keys: f64) -> Self {
        let mut coverage = Self { terms: [Term { value: 0.0, miss: 0.0 }; MAX_TERMS], len: 0 };
        coverage.expand(&query.map(weights), [0; LANES], 0, 1.0, probes);
        for term in &mut coverage.terms[..coverage.len] {
            term.value *= libm::pow(term.miss, keys);
        }
        coverage
    }

    /// Adds a term for each choice of bits in the lanes from `lane` on.
    fn expand(
        &mut self,
        weights: &[[f64; MAX_POSITIONS + 1]; LANES],
        mut bits: Positions,
        lane: usize,
        weight: f64,
        probes: u32,
    ) {
        if lane == LANES {
            self.terms[self.len] = Term { value: weight, miss: miss(probes, bits) };
            self.len += 1;
            return;
        }
        for (chosen, of_lane) in (0..).zip(weights[lane]).filter(|(_, of_lane)| *of_lane != 0.0) {
            bits[lane] = chosen;
            self.expand(weights, bits, lane + 1, weight * of_lane, probes);
        }
    }

    /// Returns the probability at the current number of keys.
    pub(super) fn probability(&self) -> f64 {
        self.terms[..self.len].iter().map(|term| term.value).sum::<f64>().clamp(0.0, 1.0)
    }

    /// Advances to one more key.
    pub(super) fn add_key(&mut self) {
        for term in &mut self.terms[..self.len] {
            term.value *= term.miss;
        }
    }
}

/// Returns the weights of 0, 1, ... distinct clear bits in inclusion and exclusion, for `positions` uniform positions
/// of a lane. Each position is either omitted, or thrown and counted with the opposite sign.
fn weights(positions: u32) -> [f64; MAX_POSITIONS + 1] {
    let mut weights = [0.0; MAX_POSITIONS + 1];
    weights[0] = 1.0;
    for _ in 0..positions {
        for distinct in (1..weights.len()).rev() {
            let before = distinct as f64 - 1.0;
            weights[distinct] -= weights[distinct] * (distinct as f64 / LANE_BITS)
                + weights[distinct - 1] * (1.0 - before / LANE_BITS);
        }
    }
    weights
}
