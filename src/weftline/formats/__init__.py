"""Public text formats: bytes to and from neutral records, no policy."""
