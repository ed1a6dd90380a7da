import { fieldsOfInfo, MISSING, valueUnder } from "../one-run/row-key.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What breakdowns look into: of a task of a benchmark folder its metadata, of any other environment what its rows have as `info`. */
export function metadataOfRow({ info }: { readonly info?: unknown }): Fields {
  const fields = fieldsOfInfo(info);
  return typeof fields.task_id === "string" && "verifier" in fields ? fieldsOfInfo(fields.metadata) : fields;
}

/** Of it what stands under `keys` alone, as text of at most so many characters: what is kept of a run does not grow with what its rows carry. */
export const metadataUnder =
  (keys: readonly string[], characters: number) =>
  (row: Fields): Fields => {
    const info = metadataOfRow(row);
    return Object.fromEntries(
      keys.flatMap((key) => {
        const value = valueUnder({ info }, key);
        return value === MISSING ? [] : [[key, value.slice(0, characters)]];
      }),
    );
  };
