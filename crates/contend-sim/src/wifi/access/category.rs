//! Access categories of EDCA.

/// An access category, the highest first (IEEE 802.11-2016 §10.2.4.2, Table 10-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// Voice (AC_VO).
    Vo,
    /// Video (AC_VI).
    Vi,
    /// Best effort (AC_BE).
    #[default]
    Be,
    /// Background (AC_BK).
    Bk,
}

impl Category {
    /// Every category by its index `category as usize`, the highest first.
    pub const ALL: [Category; 4] = [Category::Vo, Category::Vi, Category::Be, Category::Bk];

    /// The traffic identifier of its frames: one of the two user priorities of the category (IEEE 802.11-2016 Table
    /// 10-1).
    pub const fn tid(self) -> u8 {
        match self {
            Category::Vo => 6,
            Category::Vi => 5,
            Category::Be => 0,
            Category::Bk => 1,
        }
    }

    /// The word of files and results.
    pub const fn name(self) -> &'static str {
        match self {
            Category::Vo => "vo",
            Category::Vi => "vi",
            Category::Be => "be",
            Category::Bk => "bk",
        }
    }
}
