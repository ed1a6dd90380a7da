import { sha256Hex } from "../config/sha256.ts";

/**
 * By what a sample that has an id is compared with what came under that id before: the sha256 of its bytes. An episode comes as a sample, or as a line of
 * traces; of two such forms the bytes say nothing, so a mark says which it is of.
 */
const OF_TRACE = "trace:";

export const sampleMark = sha256Hex;
export const traceMark = async (line: Uint8Array): Promise<string> => OF_TRACE + (await sha256Hex(line));

/** Whether two marks of one id may be the same episode: it counts once, in the form that came first. */
export const isSame = (a: string, b: string): boolean => a === b || a.startsWith(OF_TRACE) !== b.startsWith(OF_TRACE);
