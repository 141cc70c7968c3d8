"""What filters at a port let in, rule by rule, in terms that no vendor owns."""
