//! Parameters, errors and small cases.

use theta::{
    CompactThetaSketch, ThetaHasher, ThetaParams, ThetaSet, ThetaSketch, ThetaSketchView,
    ThetaUnion,
};

#[test]
fn nominal_sizes_are_powers_of_two_in_their_range() {
    for size in [16, 32, 4_096, 1 << 26] {
        assert_eq!(ThetaSketch::new(size).unwrap().params().nominal_size(), size);
    }
    for size in [0, 1, 8, 15, 17, 1_000, (1 << 26) + 1, 1 << 27, u32::MAX] {
        let error = ThetaSketch::new(size).unwrap_err().to_string();
        assert!(error.contains("nominal_size") && error.contains(&size.to_string()), "{error}");
    }
}

#[test]
fn the_builder_refuses_what_contradicts_itself_or_is_out_of_range() {
    let builder = ThetaSketch::builder;
    assert!(builder().nominal_size(64).relative_error(0.1).build().is_err());
    for sampling in [0.0, -0.5, 1.5, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE] {
        let error = builder().sampling(sampling).build().unwrap_err().to_string();
        assert!(error.contains("sampling"), "{error}");
    }
    for error in [0.0, 1.0, f64::NAN, 1e-9] {
        assert!(builder().relative_error(error).build().is_err(), "{error}");
    }
    assert_eq!(builder().build().unwrap().params().nominal_size(), 4_096);
}

#[test]
fn a_sampling_probability_that_breaks_the_relative_error_is_refused_with_the_least_allowed() {
    for error in [0.5, 0.25, 0.1, 0.03, 0.01, 1e-3] {
        let builder = ThetaSketch::builder().relative_error(error);
        let refused = builder.sampling(0.01).build().unwrap_err().to_string();
        assert!(refused.starts_with("sampling is 0.00999"), "{refused}");
        let least: f32 = refused.rsplit(' ').next().unwrap().parse().unwrap();
        let sketch = builder.sampling(least).build().unwrap();
        assert!(sketch.params().relative_error() <= error && least < 1.0, "{error}");
        assert!(builder.sampling(least.next_down()).build().is_err(), "{error}: {least}");
    }
    let whole = ThetaSketch::builder().relative_error(0.1).sampling(1.0).build().unwrap();
    assert_eq!(whole.params().nominal_size(), 128);
}

#[test]
fn a_seed_whose_hash_is_zero_is_refused() {
    let seed = (0..1_000_000).find(|&seed| ThetaHasher::with_seed(seed).is_err()).unwrap();
    assert!(ThetaSketch::builder().seed(seed).build().unwrap_err().to_string().contains("seed"));
}

#[test]
fn sketches_of_other_seeds_are_not_combined_and_the_error_says_which() {
    let mut ours = ThetaSketch::new(16).unwrap();
    ours.extend(0..100_i64);
    let other = ThetaSketch::builder().nominal_size(16).seed(123).build().unwrap();
    let before = ours.to_compact();
    let errors = [
        ours.merge(&other).unwrap_err(),
        ours.intersection(&other).unwrap_err(),
        ours.difference(&other).unwrap_err(),
        ours.compare(&other).unwrap_err(),
        ThetaUnion::new(ThetaParams::new(16).unwrap(), other.hasher()).add(&ours).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.parameter(), "seed");
        assert!(error.to_string().contains("123") && error.to_string().contains("9001"));
    }
    assert!(ours.to_compact() == before);
}

#[test]
fn equal_keys_of_other_types_are_equal() {
    let mut sketch = ThetaSketch::new(64).unwrap();
    assert!(sketch.insert(&-1_i64));
    assert!(!sketch.insert(&-1_i32) && !sketch.insert(&-1_i16) && !sketch.insert(&-1_i8));
    assert!(!sketch.insert(&u64::MAX));
    assert!(sketch.insert(&1.5_f64));
    assert!(!sketch.insert(&1.5_f32));
    assert!(sketch.insert("text"));
    assert!(!sketch.insert(b"text") && !sketch.insert(&String::from("text")));
    assert!(!sketch.insert(&b"text".to_vec()) && !sketch.insert(&b"text"[..]));
    assert_eq!(sketch.estimate(), 3.0);
}

#[test]
fn what_is_ignored_leaves_the_sketch_empty_and_what_is_dropped_does_not() {
    let mut sketch = ThetaSketch::builder().nominal_size(16).sampling(1e-6).build().unwrap();
    assert!(!sketch.insert("") && !sketch.insert(&[0_u8; 0]));
    assert!(sketch.is_empty() && !sketch.is_estimate());
    assert!(!sketch.insert("dropped"));
    assert!(!sketch.is_empty() && sketch.is_estimate() && sketch.num_retained() == 0);
    assert_eq!(sketch.estimate(), 0.0);
    assert!(sketch.estimate_with_error().standard_error > 900_000.0);
    assert!(sketch.estimate_interval(0.9).unwrap().contains(&1.0));
    sketch.clear();
    assert!(sketch.is_empty() && sketch.theta() == 1.0);
    assert!(!sketch.insert("dropped"), "the sampling probability stays");
}

#[test]
fn views_sketches_and_unions_print_what_they_are() {
    let mut sketch = ThetaSketch::new(16).unwrap();
    sketch.extend(0..5_i64);
    let compact = sketch.to_compact();
    let view = ThetaSketchView::open(compact.to_bytes()).unwrap();
    for text in [format!("{sketch:?}"), format!("{compact:?}"), format!("{view:?}")] {
        assert!(text.contains("num_retained: 5"), "{text}");
    }
    assert_eq!(CompactThetaSketch::from(&sketch), compact);
    assert_eq!(view.get_ref(), &compact.to_bytes());
}

#[test]
fn memory_is_what_is_promised() {
    let mut sketch = ThetaSketch::new(1_024).unwrap();
    assert_eq!(sketch.size_in_bytes(), 512);
    sketch.extend(0..50_000_i64);
    assert_eq!(sketch.size_in_bytes(), 32 * 1_024);
    assert!(sketch.num_retained() as u64 <= sketch.params().max_retained());
    let bytes = sketch.to_bytes();
    assert_eq!(bytes, sketch.to_compact().to_bytes());
    assert!(bytes.len() as u64 <= sketch.params().max_compact_bytes());
}
