use crate::tool::Folder;

fn numbers(range: core::ops::Range<u32>) -> String {
    range.map(|i| format!("{i}\n")).collect()
}

#[test]
fn a_structure_survives_compression() {
    let folder = Folder::new();
    for kind in ["bloom", "quotient", "hyper-log-log", "heavy-hitters"] {
        let items = if kind.contains('-') { "" } else { " --items 100000" };
        folder.pipe(&format!("build -o f.pds --kind {kind}{items}"), numbers(0..500)).ok();
        folder.pds("convert f.pds -o c.pds --to compressed").ok();
        folder.pds("convert c.pds -o back.pds --to plain").ok();
        assert!(folder.read("back.pds") == folder.read("f.pds"), "{kind}");
        assert!(folder.pds("verify c.pds").ok().contains(", compressed, "));
        assert!(folder.pds("info c.pds").ok().contains("compressed"));
        // Few bytes that stand for many are not taken by surprise.
        for command in ["verify c.pds", "convert c.pds -o x --to plain", "merge c.pds c.pds -o x"] {
            let run = folder.pds(&format!("{command} --max-memory 100B"));
            assert!(run.failed().contains("c.pds: "), "{command}: {}", run.errors());
        }
    }
    folder.pipe("build -o f.pds --items 100000", numbers(0..500)).ok();
    folder.pds("convert f.pds -o c.pds --to compressed").ok();
    assert!(folder.read("c.pds").len() * 10 < folder.read("f.pds").len(), "a nearly empty filter");
    assert_eq!(
        folder.pipe("check -c c.pds", numbers(0..500)).ok(),
        "500\n",
        "it is asked as it is"
    );
}

#[test]
fn sketches_of_datasketches_change_their_form() {
    use pds::formats::datasketches::{DataSketchesHll, HllRegisters};
    use pds::theta::{CompactThetaSketch, ThetaSet, ThetaSketch};

    let folder = Folder::new();
    let mut sketch = DataSketchesHll::new(12, HllRegisters::Hll8).unwrap();
    (0..50_000_u64).for_each(|key| _ = sketch.insert(key));
    folder.write("hll8", sketch.to_bytes());
    for (form, width) in
        [("4", HllRegisters::Hll4), ("6", HllRegisters::Hll6), ("8", HllRegisters::Hll8)]
    {
        folder.pds(&format!("convert hll8 -o other --to datasketches-hll{form}")).ok();
        let other = DataSketchesHll::from_bytes(&folder.read("other")).unwrap();
        assert_eq!((other.width(), other.registers()), (width, sketch.registers()));
    }
    let mut theta = ThetaSketch::new(4_096).unwrap();
    (0..50_000_u64).for_each(|key| _ = theta.insert(&key));
    let compact = theta.to_compact();
    folder.write("theta", compact.to_bytes());
    folder.pds("convert theta -o small --to datasketches-theta-compressed").ok();
    folder.pds("convert small -o back --to datasketches-theta").ok();
    assert!(folder.read("small").len() < folder.read("theta").len());
    assert!(folder.read("back") == folder.read("theta"));
    let read = CompactThetaSketch::from_bytes(&folder.read("small")).unwrap();
    assert_eq!(read.estimate(), compact.estimate());
    let error = folder.pds("convert hll8 -o x --to datasketches-theta").failed();
    assert!(error.contains("hll8: "), "{error}");
    assert!(folder.pds("convert hll8 -o x --to plain").failed().contains("not the magic number"));
    assert!(!folder.names().contains(&"x".to_owned()));
}

#[test]
fn the_bits_of_milvus_are_those_of_parquet() {
    use pds::formats::milvus::MilvusBloomFilter;
    use pds::formats::parquet::ParquetBloomFilter;

    let folder = Folder::new();
    let mut filter = MilvusBloomFilter::new(1_000, 0.01).unwrap();
    (0..1_000).for_each(|number| _ = filter.insert_string(&format!("key {number}")));
    folder.write("milvus", filter.to_bytes());
    folder.pds("convert milvus -o parquet --to parquet").ok();
    let parquet = ParquetBloomFilter::from_bytes(&folder.read("parquet")).unwrap();
    assert!((0..1_000).all(|number| parquet.contains(format!("key {number}").as_str())));
}

#[test]
fn shells_and_man_know_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = folder.pds(&format!("completions {shell}")).ok();
        assert!(["dedup", "similar", "window"].iter().all(|word| text.contains(word)), "{shell}");
    }
    let page = folder.pds("man").ok();
    assert!(page.contains(".TH pds 1") && page.contains("distinct"), "{page}");
    folder.pds("man -o .").ok();
    assert!(folder.names().contains(&"pds-dedup.1".to_owned()), "{:?}", folder.names());
    assert!(String::from_utf8(folder.read("pds-dedup.1")).unwrap().contains("repeated"));
}
