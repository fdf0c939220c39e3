ALTER TYPE "public"."mail_state" ADD VALUE 'quota';--> statement-breakpoint
CREATE TABLE "mail_days" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"day" date NOT NULL,
	"counted" integer DEFAULT 0 NOT NULL,
	"held_back" integer DEFAULT 0 NOT NULL,
	"limit_reached_at" timestamp (3) with time zone,
	CONSTRAINT "mail_days_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "mail_days" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
DROP INDEX "mails_user";--> statement-breakpoint
ALTER TABLE "password_tokens" ADD COLUMN "over_tenant_server" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "counted_on" date;--> statement-breakpoint
ALTER TABLE "mail_days" ADD CONSTRAINT "mail_days_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "mail_days_day_unique" ON "mail_days" USING btree ("tenant_id","day");--> statement-breakpoint
CREATE INDEX "mail_days_day" ON "mail_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "mails_user" ON "mails" USING btree ("tenant_id","user_id","counted_on");--> statement-breakpoint
CREATE POLICY "tenant" ON "mail_days" AS PERMISSIVE FOR ALL TO "portal_app" USING ("mail_days"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("mail_days"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "mail_days" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);