/** Wherever it stands in an argument: what reads it may have put it there with something around it. */
const DIGEST = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g;

/** Digests of uploads that arguments may name, each once. One that names something else keeps an upload of that digest, and no harm is done. */
export const uploadDigestsIn = (...values: readonly unknown[]): string[] => [...new Set((JSON.stringify(values) ?? "").match(DIGEST))];
