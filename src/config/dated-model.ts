/** `-2024-08-06`, `-20250514`, `@20250514` (Google's form): a day at the end of a model's name, which says that it is a snapshot. */
export const SNAPSHOT_DAY = /[-@]20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$/;
