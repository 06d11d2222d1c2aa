//! What stations, contenders and categories are called.

/// The number of a station on its channel: first the access points, then the stations of the file. In a cell 0 is the
/// access point, and station i of the file is i + 1.
pub type StationId = u32;

/// The number of a contender in its cell. A number below the number of stations is the station itself (best effort, if
/// the station has categories). The numbers above are the other categories.
pub type Contender = u32;

/// The number of the access point of a cell.
pub const AP: StationId = 0;

/// The receiver of a frame that is for all.
pub const BROADCAST: StationId = StationId::MAX;

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

    /// The Differentiated Services code point of its packets: the usual one of those that RFC 8325 §4 maps to the
    /// category (EF, AF41, DF, CS1).
    pub const fn dscp(self) -> u8 {
        match self {
            Category::Vo => 46,
            Category::Vi => 34,
            Category::Be => 0,
            Category::Bk => 8,
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
