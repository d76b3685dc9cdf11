/* Ends what _padded_rows.h begins. */
#undef V
#undef AT
#undef READ
#undef DOWN
#undef UP
#undef I
#undef M
#undef LANES
#undef SUFFIX
