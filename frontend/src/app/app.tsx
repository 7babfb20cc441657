import { Button } from "@mantine/core";
import { LiveProvider, Refusal, useSession } from "@/api";
import { LogInPage } from "@/features/account/log-in-page";
import { AccountMenu } from "@/features/account/account-menu";
import { Shell } from "@/shell/shell";
import { Loading } from "@/ui/loading";
import { Notice } from "@/ui/notice";
import { Routes } from "./routes";

/** Who is nobody sees the log-in, at whatever address; then the page they asked for. */
export function App() {
  const session = useSession();
  const isNobody = session.error instanceof Refusal && session.error.status === 401;
  if (isNobody) return <LogInPage />;
  if (session.data !== undefined) {
    return (
      <LiveProvider>
        <Shell account={<AccountMenu me={session.data} />}>
          <Routes />
        </Shell>
      </LiveProvider>
    );
  }
  if (session.error !== null) return <Unreachable error={session.error} retry={() => void session.refetch()} />;
  return (
    <main style={{ padding: 24 }}>
      <Loading what="who you are" />
    </main>
  );
}

function Unreachable({ error, retry }: { error: Error; retry: () => void }) {
  return (
    <main style={{ maxWidth: 560, margin: "80px auto", padding: "0 16px", display: "grid", gap: 16 }}>
      <h1>Regroup</h1>
      <Notice>{error instanceof Refusal ? error.sentence : error.message}</Notice>
      <div>
        <Button onClick={retry}>Try again</Button>
      </div>
    </main>
  );
}
