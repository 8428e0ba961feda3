// The packages imported and nothing made of them, for the test of what that loads.
import "@andante/core";
import "@andante/server";
