//! Tests against servers, which `test/client.py` starts: `check` of the folder above runs them.
//!
//! `PDS_REDIS_MODULE_URL` is a server with the module, `PDS_REDIS_PLAIN_URL` one without, and `PDS_REDIS_CLUSTER_URLS` a cluster of three with
//! the module.

use std::time::Duration;

use bloom_core::{BloomFilter, BloomFilterView, BloomParams};
use pds_redis_client::{
    Answer, BitmapFilter, Error, Options, PROBE_PREFIX, Plan, RedisHyperLogLog, Servers,
    ShardedFilter, Storage, Wait,
};
use redis::Value;

const NEEDS: &str = "needs the servers of test/client.py";

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: {NEEDS}"))
}

fn with_module() -> Servers {
    Servers::single(variable("PDS_REDIS_MODULE_URL")).unwrap()
}

fn plain() -> Servers {
    Servers::single(variable("PDS_REDIS_PLAIN_URL")).unwrap()
}

fn cluster() -> Servers {
    Servers::cluster(variable("PDS_REDIS_CLUSTER_URLS").split(',')).unwrap()
}

type Connect = fn() -> Servers;

/// Where each storage is tested.
const PLACES: [(Storage, Connect); 4] = [
    (Storage::Module, with_module),
    (Storage::Module, cluster),
    (Storage::Bitmap, plain),
    (Storage::Bitmap, cluster),
];

fn urls(range: std::ops::Range<u64>) -> Vec<String> {
    range.map(|number| format!("https://example.org/{number}")).collect()
}

fn count(answers: &[Answer], of: Answer) -> usize {
    answers.iter().filter(|&&answer| answer == of).count()
}

/// Shards of 64 KiB.
fn small(items: u64, rate: f64, storage: Storage) -> Plan {
    Plan::new(items, rate).storage(storage).largest_shard(1 << 16).masters(3)
}

/// Checks that the sampled rate keeps the promise, and is that of other absent keys. The filter has the first `inserted` URLs.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn check_sample(filter: &mut ShardedFilter, inserted: u64, promise: f64) {
    const PROBES: u64 = 60_000;
    let sample = filter.sample_rate(PROBES).unwrap();
    assert!(sample.value < promise + 5.0 * sample.standard_error, "{sample:?}");
    let answers = filter.contains_batch(&urls(inserted..inserted + PROBES)).unwrap();
    let measured = answers.iter().filter(|&&found| found).count() as f64 / PROBES as f64;
    assert!(measured > 0.0, "none of {PROBES} keys was found");
    let spread = (measured * (1.0 - measured) / PROBES as f64).sqrt().hypot(sample.standard_error);
    assert!((sample.value - measured).abs() < 5.0 * spread, "{sample:?}, measured {measured}");
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn a_filter_keeps_its_keys_and_its_rate() {
    for (place, (storage, connect)) in PLACES.into_iter().enumerate() {
        let (name, plan) = (format!("rate:{place}"), small(60_000, 0.01, storage));
        let mut filter = ShardedFilter::create(connect(), &name, plan, Options::new()).unwrap();
        assert!(filter.generations()[0].shards() >= 3);
        let keys = urls(0..60_000);
        let mut new = 0;
        for batch in keys.chunks(10_000) {
            new += count(&filter.insert_batch(batch).unwrap(), Answer::New);
        }
        // The mean rate while it fills is below that of the full filter.
        assert!((59_300..=60_000).contains(&new), "{new} of 60,000 were new");
        for batch in keys.chunks(10_000) {
            assert!(filter.contains_batch(batch).unwrap().iter().all(|&found| found));
        }
        assert_eq!(count(&filter.insert_batch(&keys[..5_000]).unwrap(), Answer::Present), 5_000);
        check_sample(&mut filter, 60_000, 0.01);
        let items = filter.status().unwrap().items();
        match storage {
            Storage::Module => assert_eq!(items, new as u64),
            Storage::Bitmap => assert!(items.abs_diff(60_000) < 1_000, "{items}"),
        }
        // Another client opens the same filter.
        let mut other = ShardedFilter::create(connect(), &name, plan, Options::new()).unwrap();
        assert!(other.contains(&keys[0]).unwrap());
    }
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn shards_are_spread_over_the_masters() {
    let plan = small(1_000_000, 0.01, Storage::Module);
    let mut filter = ShardedFilter::create(cluster(), "spread", plan, Options::new()).unwrap();
    let shards = filter.generations()[0].shards();
    let keys: Vec<_> = (0..shards).map(|shard| filter.shard_key(0, shard)).collect();
    let mut of_node = std::collections::BTreeMap::<usize, u32>::new();
    for key in &keys {
        let slot = usize::from(pds_redis_client::slot_of(key.as_bytes()));
        *of_node.entry(slot * 3 / usize::from(pds_redis_client::SLOTS)).or_default() += 1;
        assert_eq!(filter.servers().query("EXISTS", key, &[]).unwrap(), Value::Int(1));
    }
    let counts: Vec<_> = of_node.into_values().collect();
    assert_eq!(counts.len(), 3);
    assert!(counts.iter().all(|count| count.abs_diff(shards / 3) <= 1), "{counts:?}");
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn bitmaps_equal_the_filters_of_the_library() {
    for connect in [plain as Connect, cluster] {
        let plan = small(200_000, 0.001, Storage::Bitmap);
        let mut filter = ShardedFilter::create(connect(), "equal", plan, Options::new()).unwrap();
        let design = filter.generations()[0];
        let mut local: Vec<_> = (0..design.shards())
            .map(|_| BloomFilter::new(design.shard_items(), design.rate()).unwrap())
            .collect();
        let keys = urls(0..50_000);
        let answers = filter.insert_batch(&keys).unwrap();
        for (key, answer) in keys.iter().zip(answers) {
            let is_new = local[filter.shard_of(0, key) as usize].insert(key.as_str());
            assert_eq!(answer == Answer::New, is_new);
        }
        for (shard, local) in (0..).zip(&local) {
            assert!(local.count_ones() > 0);
            let bitmap = filter.open_bitmap(0, shard).unwrap();
            assert_eq!(bitmap.fetch(filter.servers()).unwrap().to_bytes(), local.to_bytes());
            let key = filter.shard_key(0, shard);
            let get = |filter: &mut ShardedFilter| match filter.servers().query("GET", &key, &[]) {
                Ok(Value::BulkString(bytes)) => bytes,
                other => panic!("{other:?}"),
            };
            // The head verifies before the checksum of the bits is written, and all of it after.
            let view = BloomFilterView::open(get(&mut filter)).unwrap();
            assert!(view.verify().is_err());
            assert_eq!(view.bits().count_ones(), local.count_ones());
            bitmap.seal(filter.servers()).unwrap();
            assert_eq!(get(&mut filter), local.to_bytes());
        }
    }
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn a_filter_that_was_built_elsewhere_is_asked_and_extended() {
    for connect in [plain as Connect, cluster] {
        let mut servers = connect();
        // More than two pieces of 1 MiB, another seed, and any number of hashes.
        let mut local = BloomFilter::builder().bits(20_000_003).hashes(5).seed(7).build().unwrap();
        let keys = urls(0..10_000);
        local.extend(&keys);
        let stored = BitmapFilter::store(&mut servers, "elsewhere", &local).unwrap();
        assert!(stored.contains_batch(&mut servers, &keys).unwrap().iter().all(|&found| found));
        let opened = BitmapFilter::open(&mut servers, "elsewhere").unwrap();
        let absent = urls(10_000..20_000);
        let found = opened.contains_batch(&mut servers, &absent).unwrap();
        let expected: Vec<_> = absent.iter().map(|key| local.contains(key.as_str())).collect();
        assert_eq!(found, expected);
        opened.insert_batch(&mut servers, &absent[..100]).unwrap();
        absent[..100].iter().for_each(|key| _ = local.insert(key.as_str()));
        assert_eq!(stored.fetch(&mut servers).unwrap(), local);

        // Unions, in one slot.
        let other = urls(50_000..50_010);
        let params = local.params();
        let mut empty = local.try_clone().unwrap();
        empty.clear();
        empty.extend(&other);
        let source = BitmapFilter::store(&mut servers, "{elsewhere}2", &empty).unwrap();
        stored.union_with(&mut servers, &source).unwrap();
        local.union_with(&empty).unwrap();
        assert_eq!(stored.fetch(&mut servers).unwrap(), local);
        let shape = BloomParams::from_bits_and_hashes(params.num_bits(), 4).unwrap();
        let unequal = BitmapFilter::create(&mut servers, "{elsewhere}3", shape).unwrap();
        assert!(matches!(stored.union_with(&mut servers, &unequal), Err(Error::Differs { .. })));
        assert!(matches!(
            BitmapFilter::create(&mut servers, "elsewhere", shape),
            Err(Error::Differs { .. })
        ));
    }
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn foreign_values_are_refused_and_unchanged() {
    let mut servers = plain();
    servers.query("SET", "text", &[b"no filter"]).unwrap();
    let params = BloomParams::new(1_000, 0.01).unwrap();
    let error = BitmapFilter::create(&mut servers, "text", params).unwrap_err();
    assert!(error.to_string().starts_with("text was made by another plan"), "{error}");
    assert!(matches!(BitmapFilter::open(&mut servers, "text"), Err(Error::Decode { .. })));
    assert_eq!(servers.query("GET", "text", &[]).unwrap(), Value::BulkString(b"no filter".into()));
    assert!(matches!(BitmapFilter::open(&mut servers, "nothing"), Err(Error::Missing { .. })));
    // A filter of another kind, and one that is cut.
    let filter = BloomFilter::new(1_000, 0.01).unwrap();
    let bytes = filter.to_bytes();
    servers.query("SET", "cut", &[&bytes[..bytes.len() - 1]]).unwrap();
    assert!(matches!(BitmapFilter::open(&mut servers, "cut"), Err(Error::Differs { .. })));
    assert!(matches!(servers.fetch_distinct(&["text"]), Err(Error::Format { .. })));
    let large = BloomParams::from_bits_and_hashes(1 << 33, 3).unwrap();
    let error = BitmapFilter::create(&mut servers, "large", large).unwrap_err();
    assert!(error.to_string().contains("must be from 1 to 536870912"), "{error}");
    assert_eq!(servers.query("EXISTS", "large", &[]).unwrap(), Value::Int(0));
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn united_filters_contain_the_keys_of_both() {
    for (place, (storage, connect)) in PLACES.into_iter().enumerate() {
        let plan = small(100_000, 0.001, storage);
        let options = || Options::new().placement(&format!("united {place}"));
        let (left, right) = (format!("left:{place}"), format!("right:{place}"));
        let mut one = ShardedFilter::create(connect(), &left, plan, options()).unwrap();
        let mut two = ShardedFilter::create(connect(), &right, plan, options()).unwrap();
        one.insert_batch(&urls(0..1_000)).unwrap();
        two.insert_batch(&urls(500..2_000)).unwrap();
        one.union_with(&right).unwrap();
        assert!(one.contains_batch(&urls(0..2_000)).unwrap().iter().all(|&found| found));
        let absent = one.contains_batch(&urls(2_000..12_000)).unwrap();
        assert!(absent.iter().filter(|&&found| found).count() < 5);
        assert!(!two.contains_batch(&urls(0..400)).unwrap().iter().all(|&found| found));
        // Another plan, or another placement.
        let plan = small(50_000, 0.001, storage);
        let name = format!("other:{place}");
        ShardedFilter::create(connect(), &name, plan, options()).unwrap();
        assert!(matches!(one.union_with(&name), Err(Error::Differs { .. })));
        assert!(matches!(one.union_with("nobody"), Err(Error::Differs { .. })));
    }
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn generations_are_added_and_all_are_asked() {
    for (place, (storage, connect)) in PLACES.into_iter().enumerate() {
        let (name, plan) = (format!("growing:{place}"), small(2_000, 0.01, storage).growth(2));
        let open = || ShardedFilter::create(connect(), &name, plan, Options::new()).unwrap();
        let (mut writer, mut other) = (open(), open());
        let keys = urls(0..13_000);
        for batch in keys.chunks(500) {
            writer.insert_batch(batch).unwrap();
        }
        assert_eq!(writer.generations().len(), 3, "2, 4 and 8 thousand items");
        // The other client knows of one generation.
        assert_eq!(other.generations().len(), 1);
        let answers = other.insert_batch(&keys[12_000..]).unwrap();
        assert_eq!(count(&answers, Answer::Present), 1_000);
        let mut third = open();
        assert_eq!((other.generations().len(), third.generations().len()), (3, 3));
        let mut stale = open();
        assert!(stale.contains_batch(&keys).unwrap().iter().all(|&found| found));
        check_sample(&mut third, 13_000, 0.01);
        let status = third.status().unwrap();
        assert_eq!(status.generations.len(), 3);
        assert!(status.items().abs_diff(13_000) < 300, "{}", status.items());
        assert!(status.bytes > 13_000);
        let alerts: Vec<_> =
            writer.take_alerts().iter().map(|alert| (alert.generation, alert.percent)).collect();
        assert_eq!(alerts, [(0, 70), (0, 90), (1, 70), (1, 90), (2, 70)]);
        assert!(writer.take_alerts().is_empty());
    }
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn a_client_that_knows_fewer_generations_finds_all_keys() {
    let plan = small(2_000, 0.01, Storage::Module).growth(2);
    let open = || ShardedFilter::create(cluster(), "stale", plan, Options::new()).unwrap();
    let (mut stale, mut writer) = (open(), open());
    let keys = urls(0..5_000);
    keys.chunks(500).for_each(|batch| drop(writer.insert_batch(batch).unwrap()));
    assert_eq!((stale.generations().len(), writer.generations().len()), (1, 2));
    assert!(stale.contains_batch(&keys).unwrap().iter().all(|&found| found));
    // Entries of the list that a failover lost come back.
    let manifest = writer.manifest_key();
    writer.servers().query("HDEL", &manifest, &[b"1"]).unwrap();
    assert!(writer.contains(&keys[4_999]).unwrap());
    assert_eq!(open().generations().len(), 2);
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn a_full_filter_refuses_new_keys() {
    for (place, (storage, connect)) in PLACES.into_iter().enumerate() {
        let (name, plan) = (format!("full:{place}"), small(10_000, 0.01, storage));
        let mut filter = ShardedFilter::create(connect(), &name, plan, Options::new()).unwrap();
        let keys = urls(0..20_000);
        let error = keys.chunks(500).find_map(|batch| filter.insert_batch(batch).err()).unwrap();
        match error {
            Error::Full { items, capacity } => {
                assert_eq!(capacity, 10_000);
                // Bitmaps are counted by their bits, with a standard error of about a hundredth.
                assert!((9_700..10_700).contains(&items), "{items}");
            }
            other => panic!("{other}"),
        }
        let alerts: Vec<_> = filter.take_alerts().iter().map(|alert| alert.percent).collect();
        assert_eq!(alerts, [70, 90]);
        assert!(filter.contains_batch(&keys[..9_000]).unwrap().iter().all(|&found| found));
    }
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn what_is_missing_is_an_error_and_no_answer() {
    for (place, (storage, connect)) in PLACES.into_iter().enumerate() {
        let (name, plan) = (format!("missing:{place}"), small(200_000, 0.01, storage));
        let open = || ShardedFilter::create(connect(), &name, plan, Options::new());
        let mut filter = open().unwrap();
        let keys = urls(0..1_000);
        filter.insert_batch(&keys).unwrap();
        let shard = filter.shard_of(0, &keys[0]);
        let shard = filter.shard_key(0, shard);
        filter.servers().query("DEL", &shard, &[]).unwrap();
        let is_missing = |error: Option<Error>| {
            let error = error.expect("the shard is missing");
            assert!(matches!(&error, Error::Missing { key } if *key == shard), "{error}");
        };
        is_missing(filter.contains_batch(&keys).err());
        is_missing(filter.insert_batch(&keys[..1]).err());
        // A filter of another plan, and a client that opens it while a shard is gone.
        assert!(matches!(
            ShardedFilter::create(connect(), &name, small(1, 0.01, storage), Options::new()),
            Err(Error::Differs { .. })
        ));
        let manifest = filter.manifest_key();
        filter.servers().query("DEL", &manifest, &[]).unwrap();
        let error = filter.contains_batch(&[&keys[1]; 0]).unwrap_err();
        assert!(matches!(&error, Error::Missing { key } if *key == manifest), "{error}");
    }
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn the_cache_answers_only_what_a_server_said() {
    let plan = small(100_000, 0.01, Storage::Module);
    let options = Options::new().cache(1 << 14);
    let mut filter = ShardedFilter::create(with_module(), "cache", plan, options).unwrap();
    let mut without = ShardedFilter::create(with_module(), "cache", plan, Options::new()).unwrap();
    let keys = urls(0..10_000);
    filter.insert_batch(&keys).unwrap();
    assert_eq!(filter.cache_hits(), 0);
    assert_eq!(count(&filter.insert_batch(&keys).unwrap(), Answer::Present), 10_000);
    assert!(filter.cache_hits() > 6_000, "{}", filter.cache_hits());
    // Absent keys get the answers of the server, the false positives among them.
    let absent = urls(10_000..40_000);
    let expected = without.contains_batch(&absent).unwrap();
    assert_eq!(filter.contains_batch(&absent).unwrap(), expected);
    assert_eq!(filter.contains_batch(&absent).unwrap(), expected);
    let hits = filter.cache_hits();
    filter.clear_cache();
    filter.contains_batch(&keys).unwrap();
    assert_eq!(filter.cache_hits(), hits);
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn probes_are_not_inserted() {
    let plan = small(1_000, 0.01, Storage::Bitmap);
    let mut filter = ShardedFilter::create(plain(), "probes", plan, Options::new()).unwrap();
    let key = [PROBE_PREFIX, b"x"].concat();
    let error = filter.insert(key).unwrap_err();
    assert!(matches!(error, Error::ReservedKey) && error.to_string().contains("pds-probe"));
    assert_eq!(filter.sample_rate(1_000).unwrap().value, 0.0);
    assert!(matches!(filter.sample_rate(0), Err(Error::OutOfRange { .. })));
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn an_insert_waits_for_replicas_that_are_not_there() {
    for connect in [with_module as Connect, cluster] {
        let mut servers = connect();
        servers.set_patience(Duration::from_millis(100));
        let plan = small(1_000, 0.01, Storage::Module);
        // Created without `WAIT`.
        drop(ShardedFilter::create(connect(), "wait", plan, Options::new()).unwrap());
        let wait = Wait { replicas: 1, timeout: Duration::from_millis(20) };
        let options = Options::new().wait(wait);
        let mut filter = ShardedFilter::create(servers, "wait", plan, options).unwrap();
        let error = filter.insert("key").unwrap_err();
        let asked = matches!(&error, Error::NotReplicated { asked: 1, acknowledged: 0, .. });
        assert!(asked, "{error}");
    }
}

#[test]
#[ignore = "needs the servers of test/client.py"]
fn distinct_counts_are_merged_over_all_slots() {
    let mut servers = cluster();
    let keys: Vec<_> = (0..20).map(|number| format!("distinct:{number}")).collect();
    let mut expected = RedisHyperLogLog::new();
    for (number, key) in (0..).zip(&keys) {
        let elements = urls(number * 500..number * 500 + 1_000);
        servers.add_distinct(key, &elements).unwrap();
        expected.extend(&elements);
    }
    let union = servers.fetch_distinct(&keys).unwrap();
    assert_eq!(union, expected);
    assert!(union.count().abs_diff(10_500) < 500, "{}", union.count());
    servers.merge_distinct("distinct:all", &union).unwrap();
    servers.merge_distinct("distinct:0", &union).unwrap();
    for key in ["distinct:all", "distinct:0"] {
        let counted = servers.query("PFCOUNT", key, &[]).unwrap();
        assert_eq!(counted, Value::Int(union.count().cast_signed()));
    }
    assert_eq!(servers.fetch_distinct(&["distinct:none"]).unwrap().count(), 0);
    servers.query("SET", "distinct:text", &[b"x"]).unwrap();
    assert!(matches!(servers.add_distinct("distinct:text", &["y"]), Err(Error::Redis(_))));
}
