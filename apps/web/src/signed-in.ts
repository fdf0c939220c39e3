/** What a signed-in account loads first, as one script: the frame around all pages, and the dashboard. */
export { DashboardPage, readDashboardAhead } from './dashboards/dashboard-page.tsx';
export { Frame } from './shell/frame.tsx';
