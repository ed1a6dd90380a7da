import type { DatasetHost } from "../../../src/datasets/host.ts";
import { webDatasetHost } from "../../../src/datasets/web-host.ts";

export interface HubAsk {
  readonly url: string;
  readonly authorization: string | null;
  readonly range: string | null;
}

export interface HubTable {
  readonly config: string;
  readonly split: string;
  /** The converted file; null when the Hub has not converted it. */
  readonly parquet: Uint8Array | null;
  /** Rows of the viewer. */
  readonly rows?: readonly { readonly row: Record<string, unknown>; readonly truncated_cells?: readonly string[] }[];
}

export interface HubScript {
  readonly id: string;
  readonly tables: readonly HubTable[];
  /** Only this token may read. */
  readonly gatedBy?: string;
  /** Files of the repository by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly partial?: boolean;
  /** Statuses answered before anything else, first one first. */
  readonly faults?: number[];
}

const ENDPOINT = "https://hub.example.com";
const VIEWER = "https://viewer.example.com";
/** Large files lie with another host, to which the Hub redirects. */
const STORAGE = "https://storage.example.com";
export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

/** A Hugging Face Hub as its documentation describes the answers: repositories, converted files, the viewer's pages. */
export function scriptedHub(script: HubScript, token: string | null = null): { host: DatasetHost; asked: HubAsk[]; notes: string[] } {
  const asked: HubAsk[] = [];
  const notes: string[] = [];
  const host = webDatasetHost({
    hub: { endpoint: ENDPOINT, viewer: VIEWER, token },
    sleep: async () => undefined,
    note: (message) => notes.push(message),
    allowPrivate: false,
    fetch: async (url, init) => {
      const headers = new Headers(init.headers);
      asked.push({ url, authorization: headers.get("authorization"), range: headers.get("range") });
      const fault = script.faults?.shift();
      return fault === undefined ? answer(script, new URL(url), headers) : new Response("busy", { status: fault });
    },
  });
  return { host, asked, notes };
}

function answer(script: HubScript, url: URL, headers: Headers): Response {
  const authorised = script.gatedBy === undefined || headers.get("authorization") === `Bearer ${script.gatedBy}`;
  if (url.origin === STORAGE) return fileAnswer(script, url, headers);
  if (!authorised) return json({ error: "The dataset is gated." }, 401);
  if (url.origin === VIEWER) return viewerAnswer(script, url);
  if (["v1.0", "refs%2Fconvert%2Fparquet"].some((revision) => url.pathname === `/api/datasets/${script.id}/revision/${revision}`))
    return json({ sha: COMMIT, siblings: Object.keys(script.files ?? {}).map((rfilename) => ({ rfilename })) });
  if (url.pathname.startsWith(`/datasets/${script.id}/resolve/`))
    return new Response(null, { status: 302, headers: { location: `${STORAGE}${url.pathname}` } });
  return json({ error: "Not found" }, 404);
}

function viewerAnswer({ id, tables, partial = false }: HubScript, url: URL): Response {
  const query = url.searchParams;
  if (query.get("dataset") !== id) return json({ error: "The dataset does not exist." }, 404);
  if (url.pathname === "/splits") return json({ splits: tables.map(({ config, split }) => ({ dataset: id, config, split })) });
  if (url.pathname === "/parquet") {
    const parquet_files = tables.flatMap(({ config, split, parquet }) =>
      parquet === null
        ? []
        : [
            {
              dataset: id,
              config,
              split,
              url: `${ENDPOINT}/datasets/${id}/resolve/refs%2Fconvert%2Fparquet/${config}/${split}/0000.parquet`,
              filename: "0000.parquet",
              size: parquet.byteLength,
            },
          ],
    );
    return parquet_files.length === 0
      ? json({ error: "The parquet files are not ready yet." }, 500)
      : json({ parquet_files, pending: [], failed: [], partial }, 200, { "x-revision": COMMIT });
  }
  const rows = tables.find(({ config, split }) => config === query.get("config") && split === query.get("split"))?.rows ?? [];
  const offset = Number(query.get("offset"));
  const length = Number(query.get("length"));
  if (length > 100) return json({ error: "Parameter 'length' must not be greater than 100" }, 422);
  const page = rows.slice(offset, offset + length).map(({ row, truncated_cells = [] }, index) => ({ row_idx: offset + index, row, truncated_cells }));
  return json({ features: [], rows: page, num_rows_total: rows.length, num_rows_per_page: 100, partial });
}

function fileAnswer({ id, tables, files = {} }: HubScript, url: URL, headers: Headers): Response {
  const path = decodeURIComponent(url.pathname).replace(`/datasets/${id}/resolve/`, "");
  const table = tables.find(({ config, split }) => path === `refs/convert/parquet/${config}/${split}/0000.parquet`);
  const content = table?.parquet ?? files[path.replace(`${COMMIT}/`, "")];
  if (content === undefined) return new Response("no such file", { status: 404 });
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const range = /^bytes=(\d+)-(\d+)$/.exec(headers.get("range") ?? "");
  if (range === null) return new Response(bytes as Uint8Array<ArrayBuffer>);
  const [from, to] = [Number(range[1]), Math.min(Number(range[2]), bytes.byteLength - 1)];
  return new Response(bytes.slice(from, to + 1), { status: 206, headers: { "content-range": `bytes ${from}-${to}/${bytes.byteLength}` } });
}

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response => new Response(JSON.stringify(body), { status, headers });
