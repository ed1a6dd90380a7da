/**
 * Tables of a Run. docs/storage-schema.md describes them; a change raises SCHEMA_VERSION and adds a migration. An index is no change:
 * older tables do without it, more slowly.
 */
export const SCHEMA_VERSION = 1;
/** Of a run in which segments were merged (moved-table.ts): it has that table too, and versions before it would not find its rows. */
export const MOVED_SCHEMA_VERSION = 2;
/** Of a run with permuted examples (order-store.ts), whether or not segments were merged: versions before it would write its results in the wrong order. */
export const ORDER_SCHEMA_VERSION = 3;
export const KNOWN_SCHEMAS: readonly string[] = [SCHEMA_VERSION, MOVED_SCHEMA_VERSION, ORDER_SCHEMA_VERSION].map(String);

export const SCHEMA = `
CREATE TABLE IF NOT EXISTS record (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ticket (id INTEGER PRIMARY KEY, value TEXT NOT NULL, answer TEXT);
CREATE TABLE IF NOT EXISTS returned (lo INTEGER PRIMARY KEY, hi INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS claim (lo INTEGER PRIMARY KEY, hi INTEGER NOT NULL, ticket INTEGER NOT NULL, epoch INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS done (unit INTEGER PRIMARY KEY, segment TEXT NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL,
  owed INTEGER NOT NULL, missing TEXT, summary TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS suspect (unit INTEGER PRIMARY KEY, lapses INTEGER NOT NULL, alone INTEGER NOT NULL, waiting INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS chunk (lo INTEGER PRIMARY KEY, hi INTEGER NOT NULL, digest TEXT NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, type TEXT NOT NULL, level TEXT NOT NULL,
  message TEXT NOT NULL, rollouts INTEGER NOT NULL, units TEXT, segment TEXT);
CREATE INDEX IF NOT EXISTS event_log ON event (seq) WHERE type = 'log';
`;

/**
 * Of generated rollouts whose units are not done. No change of version: code of before does without it, and generates them again. Made when
 * something is first written to it, since most runs never need it.
 */
export const PIECE_TABLE = `
CREATE TABLE IF NOT EXISTS piece (segment TEXT PRIMARY KEY, generation INTEGER NOT NULL, parts TEXT NOT NULL) WITHOUT ROWID;
`;

/**
 * Who has which rollouts of the units that are divided. No change of version: the claim of such a unit is that of one of them, and code that does
 * not know the table gives the unit back, whole, when that grant ends. Made when something is first written to it.
 */
export const SPAN_TABLE = `
CREATE TABLE IF NOT EXISTS span (unit INTEGER NOT NULL, lo INTEGER NOT NULL, hi INTEGER NOT NULL, ticket INTEGER NOT NULL, epoch INTEGER NOT NULL,
  PRIMARY KEY (unit, lo)) WITHOUT ROWID;
`;
