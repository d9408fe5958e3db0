//! The author's source, before it runs: parsed with a real parser, walked for what cannot work, stripped of types.
