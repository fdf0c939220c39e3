CREATE TABLE "dashboard_tabs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"name" text NOT NULL,
	"position" integer NOT NULL,
	"grid_version" integer,
	"layouts" jsonb,
	"layout_revision" integer DEFAULT 0 NOT NULL,
	"layout_updated_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "dashboard_tabs_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "dashboard_tabs_layout" CHECK (num_nulls("dashboard_tabs"."grid_version", "dashboard_tabs"."layouts", "dashboard_tabs"."layout_updated_at") in (0, 3) and ("dashboard_tabs"."grid_version" is not null or "dashboard_tabs"."layout_revision" = 0))
);
--> statement-breakpoint
ALTER TABLE "dashboard_tabs" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "dashboard_widgets" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"tab_id" uuid NOT NULL,
	"type" text NOT NULL,
	"config" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "dashboard_widgets_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "dashboard_widgets" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "favorites" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"widget_id" uuid NOT NULL,
	"title" text NOT NULL,
	"url" text NOT NULL,
	"position" integer NOT NULL,
	"icon_url" text,
	"is_icon_url_named" boolean DEFAULT false NOT NULL,
	"icon_path" text,
	"icon_type" text,
	"is_icon_uploaded" boolean DEFAULT false NOT NULL,
	"icon_version" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "favorites_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "favorites_icon_complete" CHECK (("favorites"."icon_path" is null) = ("favorites"."icon_type" is null) and (not "favorites"."is_icon_uploaded" or "favorites"."icon_path" is not null) and (not "favorites"."is_icon_url_named" or "favorites"."icon_url" is not null))
);
--> statement-breakpoint
ALTER TABLE "favorites" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "dashboard_tabs" ADD CONSTRAINT "dashboard_tabs_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_tabs" ADD CONSTRAINT "dashboard_tabs_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_widgets" ADD CONSTRAINT "dashboard_widgets_tenant_id_tab_id_dashboard_tabs_tenant_id_id_fk" FOREIGN KEY ("tenant_id","tab_id") REFERENCES "public"."dashboard_tabs"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dashboard_widgets" ADD CONSTRAINT "dashboard_widgets_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "favorites" ADD CONSTRAINT "favorites_tenant_id_widget_id_dashboard_widgets_tenant_id_id_fk" FOREIGN KEY ("tenant_id","widget_id") REFERENCES "public"."dashboard_widgets"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "favorites" ADD CONSTRAINT "favorites_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "dashboard_tabs_user" ON "dashboard_tabs" USING btree ("tenant_id","user_id","position");--> statement-breakpoint
CREATE INDEX "dashboard_widgets_tab" ON "dashboard_widgets" USING btree ("tenant_id","tab_id");--> statement-breakpoint
CREATE INDEX "favorites_widget" ON "favorites" USING btree ("tenant_id","widget_id","position");--> statement-breakpoint
CREATE INDEX "favorites_icon" ON "favorites" USING btree ("icon_path") WHERE icon_path is not null;--> statement-breakpoint
CREATE INDEX "dashboard_images_path" ON "dashboard_images" USING btree ("storage_path");--> statement-breakpoint
CREATE POLICY "tenant" ON "dashboard_tabs" AS PERMISSIVE FOR ALL TO "portal_app" USING ("dashboard_tabs"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("dashboard_tabs"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "dashboard_tabs" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "dashboard_widgets" AS PERMISSIVE FOR ALL TO "portal_app" USING ("dashboard_widgets"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("dashboard_widgets"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "dashboard_widgets" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "favorites" AS PERMISSIVE FOR ALL TO "portal_app" USING ("favorites"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("favorites"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "favorites" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);