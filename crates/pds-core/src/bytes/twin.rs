/// Gives an atomic structure the portable bytes of its plain twin.
///
/// It has `words()`, `params()`, `hasher()` and `From` the twin; `shape_of` turns the parameters into a
/// [`Shape`](crate::bytes::Shape).
#[doc(hidden)]
#[macro_export]
macro_rules! portable_twin {
    ($atomic:ident of $plain:ident, $shape_of:path) => {
        $crate::portable_methods!($atomic);

        /// The same bytes as the plain structure's. Those taken during changes are no snapshot.
        impl<S: $crate::PortableHasher> $crate::bytes::Portable for $atomic<S> {
            type Hasher = S;
            const KIND: $crate::Kind = <$plain<S> as $crate::bytes::Portable>::KIND;

            fn portable_hasher(&self) -> &S {
                self.hasher()
            }

            fn shape(&self) -> $crate::bytes::Shape {
                $shape_of(&self.params())
            }

            fn payload_bytes(&self) -> u64 {
                self.params().size_in_bytes()
            }

            fn payload_range(
                shape: &$crate::bytes::Shape,
            ) -> Result<::core::ops::RangeInclusive<u64>, $crate::DecodeError> {
                $plain::<S>::payload_range(shape)
            }

            fn write_payload<W: $crate::bytes::Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
                sink.put_words(self.words())
            }

            fn read_payload<R: $crate::bytes::Source>(
                shape: &$crate::bytes::Shape,
                hasher: S,
                source: &mut R,
            ) -> Result<Self, R::Error> {
                $plain::read_payload(shape, hasher, source).map(Self::from)
            }
        }
    };
}
