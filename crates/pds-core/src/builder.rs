//! What the builders of filters have in common.

/// The false-positive rate where none is asked for: one absent key in a hundred.
pub const DEFAULT_RATE: f64 = 0.01;

/// Defines the builder of a filter: its fields, a setter for each, and `build`.
///
/// One definition, so that all filters are set up alike. The crate that calls it has the feature
/// `huge-pages` of its own, and gives the builder the method `params(&self)`: the one way in which what was
/// given fixes the size. The filter has `from_params` and `advise_huge_pages`.
///
/// ```text
/// filter_builder! {
///     /// Sets up a [`Filter`]; [`Filter::builder`] starts it.
///     FilterBuilder builds Filter {
///         /// Sets the number of bits.
///         bits: u64,
///     }
/// }
/// ```
///
/// A filter with a width of counters beside its hasher names it: `FilterBuilder<C: Counter = Bits4>`.
#[doc(hidden)]
#[macro_export]
macro_rules! filter_builder {
    (
        $(#[$about:meta])*
        $builder:ident $(<$width:ident: $bound:path = $usual:path>)? builds $filter:ident {
            $($(#[$sets:meta])* $field:ident: $value:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        #[must_use]
        pub struct $builder<S = $crate::DefaultHashBuilder $(, $width = $usual)?> {
            expected_items: Option<u64>,
            false_positive_rate: Option<f64>,
            $($field: Option<$value>,)*
            #[cfg(feature = "huge-pages")]
            huge_pages: bool,
            hasher: S,
            $(width: ::core::marker::PhantomData<$width>,)?
        }

        impl $builder {
            pub(crate) const fn new() -> Self {
                Self {
                    expected_items: None,
                    false_positive_rate: None,
                    $($field: None,)*
                    #[cfg(feature = "huge-pages")]
                    huge_pages: false,
                    hasher: $crate::DefaultHashBuilder::with_seed(0),
                    $(width: ::core::marker::PhantomData::<$usual>,)?
                }
            }
        }

        impl$(<$width>)? $builder<$crate::DefaultHashBuilder $(, $width)?> {
            /// Seeds the default hasher. Filters can be combined when their seeds are equal.
            pub const fn seed(mut self, seed: u64) -> Self {
                self.hasher = $crate::DefaultHashBuilder::with_seed(seed);
                self
            }
        }

        impl<S $(, $width: $bound)?> $builder<S $(, $width)?> {
            /// Sets the number of distinct items at which the promised rate is reached.
            pub const fn expected_items(mut self, items: u64) -> Self {
                self.expected_items = Some(items);
                self
            }

            /// Sets the fraction of absent keys, in (0, 1), that may be answered `true` at the expected
            /// items.
            pub const fn false_positive_rate(mut self, rate: f64) -> Self {
                self.false_positive_rate = Some(rate);
                self
            }

            $(
                $(#[$sets])*
                pub const fn $field(mut self, $field: $value) -> Self {
                    self.$field = Some($field);
                    self
                }
            )*

            /// Asks the system for huge pages, for filters of many megabytes; small ones ignore it. Copies, and filters that
            /// are read from bytes, do not ask.
            #[cfg(feature = "huge-pages")]
            pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
                self.huge_pages = huge_pages;
                self
            }

            /// Hashes keys with `hasher`, such as a [`SipHashBuilder`]($crate::SipHashBuilder) for keys
            /// that strangers choose.
            pub fn hasher<T: $crate::KeyHasher>(self, hasher: T) -> $builder<T $(, $width)?> {
                $builder {
                    expected_items: self.expected_items,
                    false_positive_rate: self.false_positive_rate,
                    $($field: self.$field,)*
                    #[cfg(feature = "huge-pages")]
                    huge_pages: self.huge_pages,
                    hasher,
                    $(width: ::core::marker::PhantomData::<$width>,)?
                }
            }

            /// Builds the filter.
            ///
            /// # Errors
            /// [`BuildError::Param`]($crate::BuildError::Param) names a parameter that is out of range,
            /// missing, or fixed by the others already; [`BuildError::Alloc`]($crate::BuildError::Alloc)
            /// reports that memory was refused.
            pub fn build(self) -> Result<$filter<S $(, $width)?>, $crate::BuildError>
            where
                S: $crate::KeyHasher,
            {
                let filter = $filter::from_params(self.params()?, self.hasher)?;
                #[cfg(feature = "huge-pages")]
                if self.huge_pages {
                    filter.advise_huge_pages();
                }
                Ok(filter)
            }
        }
    };
}
