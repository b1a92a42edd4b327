"""Parameter files as text that engines read: source of C and Rust, JSON, UCI options, settings for
SPSA."""
