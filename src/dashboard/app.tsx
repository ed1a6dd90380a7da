import { LocationProvider, Route, Router } from "preact-iso/router";
import { DRAWN_HERE } from "./address/links.ts";
import { type Dashboard, DashboardContext } from "./context.ts";
import { Frame } from "./frame/frame.tsx";
import { PageFault } from "./frame/page-fault.tsx";
import { NotFound } from "./pages/not-found.tsx";
import { pagesFor } from "./pages/pages.ts";

export const App = ({ dashboard }: { readonly dashboard: Dashboard }) => (
  <LocationProvider scope={DRAWN_HERE}>
    <DashboardContext.Provider value={dashboard}>
      <Frame>
        <PageFault>
          <Router>
            {pagesFor(dashboard.viewer).map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route default component={NotFound} />
          </Router>
        </PageFault>
      </Frame>
    </DashboardContext.Provider>
  </LocationProvider>
);
