// The pages of the console, in the order of the side bar.
import {
  Bot,
  Braces,
  CalendarClock,
  CircleX,
  Coins,
  House,
  Inbox,
  List,
  ScrollText,
  Server,
  Waypoints,
  Workflow,
  Zap,
} from "lucide-react";

export const navigation = [
  { name: "Home", to: "/", Icon: House },
  { name: "Inbox", to: "/inbox", Icon: Inbox },
  { name: "Executions", to: "/executions", Icon: List },
  { name: "Workflows", to: "/workflows", Icon: Workflow, heading: "Definitions" },
  { name: "Agents", to: "/agents", Icon: Bot },
  { name: "Schedules", to: "/schedules", Icon: CalendarClock },
  { name: "Events", to: "/events", Icon: Zap },
  { name: "Failures", to: "/failures", Icon: CircleX, heading: "Observe" },
  { name: "Logs", to: "/logs", Icon: ScrollText },
  { name: "Traces", to: "/traces", Icon: Waypoints },
  { name: "Usage", to: "/usage", Icon: Coins },
  { name: "Nodes", to: "/nodes", Icon: Server },
  { name: "API", to: "/api", Icon: Braces, heading: "Develop" },
] as const;
