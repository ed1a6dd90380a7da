import { lacksMethod } from "./errors.ts";

/** The answer of an object, or of one that an older version still runs, which knows nothing of what is asked, `otherwise`. */
export async function unlessOlder<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer;
  } catch (thrown) {
    if (lacksMethod(thrown)) return otherwise;
    throw thrown;
  }
}
