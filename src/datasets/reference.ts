import { EdgewiseError } from "../errors/result.ts";

/** Where the rows of a data set are: an upload named by the digest of its bytes, a page of the web, or a repository of the Hugging Face Hub. */
export type DatasetReference =
  | { readonly kind: "digest"; readonly digest: string }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "hub"; readonly id: string };

const DIGEST = /^sha256:([0-9a-f]{64})$/;
/** The Hub's own rule for a name; a data set without an owner (`squad`) is one of the oldest. */
const HUB_ID = /^(?:[A-Za-z0-9][\w.-]{0,95}\/)?[A-Za-z0-9][\w.-]{0,95}$/;
/** A name with such an ending is meant as a file, which only the command line can send. */
const DATA_FILE = /\.(?:jsonl?|ndjson|csv|tsv|parquet)(?:\.gz)?$/i;

const HINT =
  "give the id of a data set of the Hugging Face Hub (openai/gsm8k), sha256:<digest> of an upload (PUT /datasets/{sha256}), an https URL, or with the command line a local file, which it uploads";

/** Whether `text` names a file of data by its ending. */
export const isDataFileName = (text: string): boolean => DATA_FILE.test(text);

/** Reads the argument `dataset`. Throws `invalid_request` for anything that is no reference. */
export function datasetReference(text: string): DatasetReference {
  const digest = DIGEST.exec(text)?.[1];
  if (digest !== undefined) return { kind: "digest", digest };
  if (URL.canParse(text) && isWebAddress(new URL(text))) return { kind: "url", url: text };
  if (HUB_ID.test(text) && !isDataFileName(text) && !text.includes("..")) return { kind: "hub", id: text };
  throw new EdgewiseError("invalid_request", `dataset: ${JSON.stringify(text.slice(0, 200))} is no reference to a data set`, { hint: HINT });
}

/** No user or password: the reference stands in files that are given away. */
const isWebAddress = ({ protocol, username, password }: URL): boolean => protocol === "https:" && username === "" && password === "";
