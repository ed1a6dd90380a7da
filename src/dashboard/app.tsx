import lazy from "preact-iso/lazy";
import { LocationProvider, Route, Router } from "preact-iso/router";
import { DRAWN_HERE } from "./address/links.ts";
import { type Dashboard, DashboardContext } from "./context.ts";
import { Frame } from "./frame/frame.tsx";
import { PageFault } from "./frame/page-fault.tsx";
import { NotFound } from "./pages/not-found.tsx";

/** Each page is loaded when it is opened. */
const RunsPage = lazy(() => import("./pages/runs/runs-page.tsx").then((module) => module.RunsPage));

export const App = ({ dashboard }: { readonly dashboard: Dashboard }) => (
  <LocationProvider scope={DRAWN_HERE}>
    <DashboardContext.Provider value={dashboard}>
      <Frame>
        <PageFault>
          <Router>
            <Route path="/dashboard" component={RunsPage} />
            <Route default component={NotFound} />
          </Router>
        </PageFault>
      </Frame>
    </DashboardContext.Provider>
  </LocationProvider>
);
