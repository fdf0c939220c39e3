ALTER TABLE "runs" DROP CONSTRAINT "runs_tenant_id_started_by_users_tenant_id_id_fk";
--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_tenant_id_started_by_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","started_by") REFERENCES "public"."users"("tenant_id","id") ON DELETE set null ("started_by") ON UPDATE no action;