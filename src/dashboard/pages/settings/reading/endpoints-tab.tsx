import { singleLine } from "../../../../report/text/printable.ts";
import type { EndpointList } from "../../../api/answers.ts";
import { Moment } from "../../../design/moment.tsx";
import { ADD_ENDPOINT } from "../commands.ts";
import { ReadList } from "./read-list.tsx";

/** Where models are served, by the names that runs call them. */
export const EndpointsTab = () => (
  <ReadList<EndpointList["data"][number]>
    title="Endpoints"
    path="/endpoints"
    columns={[
      { name: "Endpoint", cell: ({ endpoint_id }) => <code>{singleLine(endpoint_id)}</code> },
      { name: "Model", cell: ({ model, api_client_type }) => `${singleLine(model)}${api_client_type === null ? "" : ` (${api_client_type})`}` },
      {
        name: "Served at",
        cell: ({ replicas }) =>
          replicas.map(({ api_base_url, api_key_var }) => (
            <div key={`${api_base_url} ${api_key_var}`}>
              {singleLine(api_base_url)}
              <small>key in {singleLine(api_key_var)}</small>
            </div>
          )),
      },
      {
        name: "Changed",
        cell: ({ updated_at, updated_by }) => (
          <>
            <Moment at={updated_at} now={Date.now()} />
            <small>by {singleLine(updated_by)}</small>
          </>
        ),
      },
    ]}
    keyOf={({ endpoint_id }) => endpoint_id}
    none={
      <>
        No endpoint is kept. In a terminal: <code>{ADD_ENDPOINT}</code>
      </>
    }
  />
);
