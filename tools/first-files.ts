import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * A sequencer that begins with these files, the longest first, paths from `root`: vitest begins with the largest, and a small file that takes
 * minutes would be left over at the end, beside a core with nothing to do. Throws where one of them is not there.
 */
export function beginningWith(root: string, first: readonly string[]): typeof BaseSequencer {
  const paths = first.map((name) => join(root, name));
  for (const path of paths) if (!existsSync(path)) throw new Error(`${path} is to be the first test file, and is not there`);
  const rank = ({ moduleId }: TestSpecification): number => (paths.includes(moduleId) ? paths.indexOf(moduleId) : paths.length);
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
    }
  };
}
