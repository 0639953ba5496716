//! The numbers of feature templates, on which the weights of saved models depend.
//!
//! A feature is the hash of its template's number and of the values that the template reads. So a
//! number is never changed and never reused, not even after its template is removed; a new template
//! gets a new number. Raise [`TEMPLATE_VERSION`] whenever a template is added or removed (its features
//! share weights with others), the values that a template reads change, or the way in which words
//! are hashed in [`super::tokens`].

/// The version of all templates, which model files store. A model of a later version, or of one
/// before [`OLDEST_TEMPLATE_VERSION`], cannot be used: its weights belong to other features.
///
/// Version 2 added the templates of word clusters, version 3 those of dependencies, and version 4
/// those of more parts of words.
pub const TEMPLATE_VERSION: u32 = 4;

/// The first version with shapes of letters without case and with all parts of words. Words are read
/// without them for older models.
pub const SPELLING_VERSION: u32 = 4;

/// Models of versions from this one on can be used: a model without word clusters and dependencies
/// has the features of version 1.
pub const OLDEST_TEMPLATE_VERSION: u32 = 1;

/// Declares the templates and a list of all of them.
macro_rules! templates {
    ($($name:ident = $number:literal,)*) => {
        /// What a feature reads. Words, spans, split points and rules have separate templates; the
        /// names say what is read and where.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u64)]
        #[expect(missing_docs, reason = "the names say it")]
        pub enum Template {
            $($name = $number,)*
        }

        impl Template {
            /// All templates.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

templates! {
    SpanLength = 1,
    SpanBeforeWord = 2,
    SpanBeforeWordLength = 3,
    SpanFirstWord = 4,
    SpanFirstWordLength = 5,
    SpanLastWord = 6,
    SpanLastWordLength = 7,
    SpanAfterWord = 8,
    SpanAfterWordLength = 9,
    SpanBeforeTag = 10,
    SpanBeforeTagLength = 11,
    SpanFirstTag = 12,
    SpanFirstTagLength = 13,
    SpanLastTag = 14,
    SpanLastTagLength = 15,
    SpanAfterTag = 16,
    SpanAfterTagLength = 17,
    SpanFirstLastWords = 18,
    SpanBeforeFirstWords = 19,
    SpanLastAfterWords = 20,
    SpanBeforeAfterWords = 21,
    SpanFirstLastTags = 22,
    SpanBeforeFirstTags = 23,
    SpanLastAfterTags = 24,
    SpanBeforeAfterTags = 25,
    SpanFirstTwoTags = 26,
    SpanLastTwoTags = 27,
    SpanBeforeFirstAfterTags = 28,
    SpanBeforeLastAfterTags = 29,
    SpanFirstLastAfterTags = 30,
    SpanBeforeFirstLastTags = 31,
    SpanBorderTags = 32,
    SpanTwoBeforeFirstTags = 33,
    SpanLastTwoAfterTags = 34,
    SpanFirstWordAfterTag = 35,
    SpanBeforeWordFirstTag = 36,
    SpanLastTagAfterWord = 37,
    SpanBeforeWordAfterTag = 38,
    SpanBeforeTagAfterWord = 39,
    SpanBalanced = 40,
    SpanMarkSet = 41,
    SpanMarkSequence = 42,
    SpanShape = 43,
    SpanShapeInContext = 44,
    SpanTagSequence = 45,
    SpanTagSequenceInContext = 46,
    WordBias = 1001,
    Word = 1002,
    WordClass = 1003,
    WordShape = 1004,
    WordPrefix = 1005,
    WordSuffix1 = 1006,
    WordSuffix2 = 1007,
    WordSuffix3 = 1008,
    WordBefore2 = 1009,
    WordBefore1 = 1010,
    WordAfter1 = 1011,
    WordAfter2 = 1012,
    WordTagBefore = 1013,
    WordTagAfter = 1014,
    WordPairBefore = 1015,
    WordPairAfter = 1016,
    WordTagPairBefore = 1017,
    WordTagPairAfter = 1018,
    WordTagTriple = 1019,
    WordTagsBefore = 1020,
    WordTagsAfter = 1021,
    WordWithTagAfter = 1022,
    WordWithTagBefore = 1023,
    SplitLeftWord = 2001,
    SplitRightWord = 2002,
    SplitLeftTag = 2003,
    SplitRightTag = 2004,
    SplitLengths = 2005,
    SplitLeftLengthWord = 2006,
    SplitRightLengthWord = 2007,
    SplitLeftRightWords = 2008,
    SplitFirstRightWords = 2009,
    SplitRightLastWords = 2010,
    SplitLeftRightTags = 2011,
    SplitFirstRightTags = 2012,
    SplitRightLastTags = 2013,
    SplitLeftWordRightTag = 2014,
    SplitLeftTagRightWord = 2015,
    SplitRightWordLastTag = 2016,
    SplitFirstLeftRightTags = 2017,
    SplitFirstRightLastTags = 2018,
    WordCluster0 = 1100,
    WordCluster1 = 1101,
    WordCluster2 = 1102,
    WordClusterBefore = 1103,
    WordClusterAfter = 1104,
    WordClusterPairBefore = 1105,
    WordClusterPairAfter = 1106,
    WordClusterBefore1 = 1107,
    WordClusterAfter1 = 1108,
    WordClusterTriple = 1109,
    WordClusterSuffix = 1110,
    WordClusterShape = 1111,
    SpanBeforeCluster = 100,
    SpanFirstCluster = 101,
    SpanLastCluster = 102,
    SpanAfterCluster = 103,
    SpanBeforeClusterLength = 104,
    SpanFirstClusterLength = 105,
    SpanLastClusterLength = 106,
    SpanAfterClusterLength = 107,
    SpanFirstLastClusters = 108,
    SpanBeforeFirstClusters = 109,
    SpanLastAfterClusters = 110,
    SpanBeforeAfterClusters = 111,
    SpanFirstLastClustersFine = 112,
    SpanBeforeFirstClustersFine = 113,
    SpanLastAfterClustersFine = 114,
    SpanBeforeAfterClustersFine = 115,
    SpanBorderClusters = 116,
    SpanBeforeFirstAfterClusters = 117,
    SpanBeforeLastAfterClusters = 118,
    SpanFirstLastAfterClusters = 119,
    SpanBeforeFirstLastClusters = 120,
    SplitLeftCluster = 2100,
    SplitRightCluster = 2101,
    SplitLeftRightClusters = 2102,
    SplitFirstRightClusters = 2103,
    SplitRightLastClusters = 2104,
    SplitLeftRightClustersFine = 2105,
    SplitFirstRightClustersFine = 2106,
    SplitRightLastClustersFine = 2107,
    WordRelation = 1200,
    WordRelationTag = 1201,
    WordRelationDependents = 1202,
    WordRelationTagDependents = 1203,
    WordParentTag = 1204,
    WordRelationParentTag = 1205,
    SpanHeads = 200,
    SpanHeadsLength = 201,
    SpanHeadsCut = 202,
    SpanHeadsOutside = 203,
    SpanHeadsBorders = 204,
    SpanHeadsSiblings = 205,
    SpanHeadsRelations = 206,
    SpanHeadTag = 207,
    SpanHeadWord = 208,
    SpanHeadRelation = 209,
    SpanHeadRelationOutside = 210,
    SpanHeadTagOutside = 211,
    SpanHeadPlace = 212,
    SpanHeadParent = 213,
    SpanHeadDependents = 214,
    SpanHeadTagDependents = 215,
    SpanHeadDependentsOutside = 216,
    SpanHeadRelationDependents = 217,
    SpanHeadOuterDependents = 218,
    SpanHeadNextDependents = 219,
    SpanHeadDependentsAround = 220,
    SplitHeads = 2200,
    SplitHeadsKind = 2201,
    SplitHeadsRelation = 2202,
    SplitRelations = 2203,
    SplitTags = 2204,
    SplitTagsRelation = 2205,
    WordPrefix1 = 1300,
    WordPrefix2 = 1301,
    WordPrefix4 = 1302,
    WordPrefix5 = 1303,
    WordSuffix4 = 1304,
    WordSuffix5 = 1305,
    WordInfix = 1306,
    Rule = 9999,
}

#[cfg(test)]
mod tests;
