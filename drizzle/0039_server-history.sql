CREATE TABLE "server_history" (
	"tenant_id" uuid NOT NULL,
	"server_id" uuid NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"state" "server_state" NOT NULL,
	"failure" "server_failure",
	"cpu" real,
	"memory" real,
	"fullest" real,
	"guests" integer,
	"waiting" integer,
	CONSTRAINT "server_history_tenant_id_server_id_at_pk" PRIMARY KEY("tenant_id","server_id","at")
);
--> statement-breakpoint
ALTER TABLE "server_history" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "server_history" ADD CONSTRAINT "server_history_tenant_id_server_id_monitored_servers_tenant_id_id_fk" FOREIGN KEY ("tenant_id","server_id") REFERENCES "public"."monitored_servers"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "server_history_at" ON "server_history" USING btree ("at");--> statement-breakpoint
CREATE POLICY "tenant" ON "server_history" AS PERMISSIVE FOR ALL TO "portal_app" USING ("server_history"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("server_history"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "server_history" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);