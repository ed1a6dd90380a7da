import { datasetKey } from "../../../r2-layout/keys.ts";
import type { ByteSource, DatasetHost } from "../../datasets/host.ts";
import { EdgewiseError, failureOf } from "../../errors/result.ts";
import type { ExecutorPorts } from "../ports.ts";

type DatasetPorts = Pick<ExecutorPorts, "store" | "fetch" | "sleep" | "hub" | "local">;

/** How an executor reads data sets; `note` tells whoever follows the run. */
export function datasetHost(ports: DatasetPorts, note: (message: string) => void): DatasetHost {
  return {
    fetch: ports.fetch,
    sleep: ports.sleep,
    hub: ports.hub,
    allowPrivate: ports.local,
    note,
    async upload(digest) {
      const size = await stored(() => ports.store.size(datasetKey(digest)));
      return size === null ? null : uploadSource(ports, digest, size);
    },
  };
}

function uploadSource({ store }: DatasetPorts, digest: string, size: number): ByteSource {
  const key = datasetKey(digest);
  const name = `the upload sha256:${digest.slice(0, 12)}…`;
  return {
    name,
    size: () => Promise.resolve(size),
    async open() {
      const stream = await stored(() => store.stream(key));
      if (stream === null) throw new EdgewiseError("dataset_unreadable", `There is no ${name} any more.`);
      return stream;
    },
    async read(start, end) {
      const bytes = await stored(() => store.read(key, start, end - start));
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
    },
  };
}

async function stored<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw new EdgewiseError("storage_unavailable", `The data set could not be read: ${failureOf(thrown).message}`, { cause: thrown });
  }
}
