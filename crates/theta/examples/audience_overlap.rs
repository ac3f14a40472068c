//! Estimates how the audiences of three sites overlap, from one sketch per site.
//!
//! The visitors are made up. Each site has its own, some come to two sites, and some to all. Beside each estimate stands the exact
//! number.
//!
//! `cargo run --release -p theta --example audience_overlap -- VISITORS`

use core::error::Error;
use std::collections::HashSet;
use std::env;

use theta::{ThetaParams, ThetaSet, ThetaSketch, ThetaUnion};

const SITES: [&str; 3] = ["news", "shop", "forum"];
const NOMINAL_SIZE: u32 = 4_096;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let visitors: u64 = env::args().nth(1).map_or(Ok(300_000), |number| number.parse())?;

    let mut sketches = Vec::new();
    let mut exact: Vec<HashSet<String>> = Vec::new();
    for site in 0..3 {
        let audience: Vec<String> =
            (0..visitors).filter(|&id| comes_to(id, site)).map(name).collect();
        let mut sketch = ThetaSketch::new(NOMINAL_SIZE)?;
        sketch.extend(&audience);
        sketches.push(sketch);
        exact.push(audience.into_iter().collect());
    }

    println!("{:<34} {:>20} {:>24} {:>9}", "visitors of", "estimate", "interval of 95 %", "exact");
    for (site, (sketch, exact)) in sketches.iter().zip(&exact).enumerate() {
        report(SITES[site], sketch, exact.len())?;
    }
    let [news, shop, forum] = [&sketches[0], &sketches[1], &sketches[2]];
    let [in_news, in_shop, in_forum] = [&exact[0], &exact[1], &exact[2]];

    let mut any = ThetaUnion::new(ThetaParams::new(NOMINAL_SIZE)?, news.hasher());
    sketches.iter().try_for_each(|sketch| any.add(sketch))?;
    report("any of them", &any, exact.iter().flatten().collect::<HashSet<_>>().len())?;

    let both = news.intersection(shop)?;
    report("news and shop", &both, in_news.intersection(in_shop).count())?;
    let all = both.intersection(forum)?;
    let in_all = in_news.intersection(in_shop).filter(|&name| in_forum.contains(name)).count();
    report("all three", &all, in_all)?;
    report("shop, but not news", &shop.difference(news)?, in_shop.difference(in_news).count())?;
    let only_forum = forum.difference(news)?.difference(shop)?;
    let others = |name: &&String| !in_news.contains(*name) && !in_shop.contains(*name);
    report("forum only", &only_forum, in_forum.iter().filter(others).count())?;

    let jaccard = news.compare(shop)?;
    let interval = jaccard.jaccard_interval(0.95)?;
    println!(
        "news and shop share {:.3} of their visitors, between {:.3} and {:.3}",
        jaccard.jaccard(),
        interval.start(),
        interval.end()
    );
    let stored: usize =
        sketches.iter().map(|sketch| sketch.to_compact().to_compressed_bytes().len()).sum();
    println!("the three sketches have {stored} bytes compressed");
    Ok(())
}

/// Two thirds of the visitors come to the first site, some of them to others too.
fn comes_to(id: u64, site: u64) -> bool {
    let draw = pds_testkit::keys::random(id).next().expect("endless") % 12;
    match site {
        0 => draw < 8,
        1 => (6..11).contains(&draw) || draw == 0,
        _ => [0, 5, 10].contains(&draw) || draw == 11,
    }
}

fn name(id: u64) -> String {
    format!("visitor {id}")
}

fn report(name: &str, set: &impl ThetaSet, exact: usize) -> Result<(), Box<dyn Error>> {
    let estimate = set.estimate_with_error();
    let interval = set.estimate_interval(0.95)?;
    let interval = format!("{:.0} to {:.0}", interval.start(), interval.end());
    println!("{name:<34} {:>20} {interval:>24} {exact:>9}", format!("{estimate:.0}"));
    // Six errors: this fails for one run in 10^8 at most.
    let error = (estimate.value - exact as f64).abs();
    assert!(error <= 6.0 * estimate.standard_error, "the estimate is wrong");
    Ok(())
}
