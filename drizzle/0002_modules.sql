CREATE TYPE "public"."grant_level" AS ENUM('USE', 'MANAGE');--> statement-breakpoint
CREATE TABLE "custom_modules" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"owner_user_id" uuid,
	"name" text NOT NULL,
	"url" text NOT NULL,
	"category_id" uuid NOT NULL,
	"sort_order" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "custom_modules_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "custom_modules" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "disabled_modules" (
	"tenant_id" uuid NOT NULL,
	"module_key" text NOT NULL,
	CONSTRAINT "disabled_modules_tenant_id_module_key_pk" PRIMARY KEY("tenant_id","module_key")
);
--> statement-breakpoint
ALTER TABLE "disabled_modules" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "group_members" (
	"tenant_id" uuid NOT NULL,
	"group_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	CONSTRAINT "group_members_tenant_id_group_id_user_id_pk" PRIMARY KEY("tenant_id","group_id","user_id")
);
--> statement-breakpoint
ALTER TABLE "group_members" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "groups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"internal_name" text NOT NULL,
	"directory_id" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "groups_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "groups" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "module_categories" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"key" text NOT NULL,
	"name" text NOT NULL,
	"position" integer NOT NULL,
	CONSTRAINT "module_categories_tenant_id_id_unique" UNIQUE("tenant_id","id")
);
--> statement-breakpoint
ALTER TABLE "module_categories" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "module_grants" (
	"id" uuid PRIMARY KEY NOT NULL,
	"tenant_id" uuid NOT NULL,
	"module_key" text NOT NULL,
	"group_id" uuid,
	"user_id" uuid,
	"level" "grant_level" DEFAULT 'USE' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "module_grants_tenant_id_id_unique" UNIQUE("tenant_id","id"),
	CONSTRAINT "module_grants_one_subject" CHECK (num_nonnulls("module_grants"."group_id", "module_grants"."user_id") = 1)
);
--> statement-breakpoint
ALTER TABLE "module_grants" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
CREATE TABLE "module_placements" (
	"tenant_id" uuid NOT NULL,
	"module_key" text NOT NULL,
	"category_id" uuid NOT NULL,
	CONSTRAINT "module_placements_tenant_id_module_key_pk" PRIMARY KEY("tenant_id","module_key")
);
--> statement-breakpoint
ALTER TABLE "module_placements" ENABLE ROW LEVEL SECURITY;--> statement-breakpoint
ALTER TABLE "custom_modules" ADD CONSTRAINT "custom_modules_tenant_id_owner_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","owner_user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "custom_modules" ADD CONSTRAINT "custom_modules_tenant_id_category_id_module_categories_tenant_id_id_fk" FOREIGN KEY ("tenant_id","category_id") REFERENCES "public"."module_categories"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "custom_modules" ADD CONSTRAINT "custom_modules_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "disabled_modules" ADD CONSTRAINT "disabled_modules_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_tenant_id_group_id_groups_tenant_id_id_fk" FOREIGN KEY ("tenant_id","group_id") REFERENCES "public"."groups"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_members" ADD CONSTRAINT "group_members_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "groups" ADD CONSTRAINT "groups_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "module_categories" ADD CONSTRAINT "module_categories_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "module_grants" ADD CONSTRAINT "module_grants_tenant_id_group_id_groups_tenant_id_id_fk" FOREIGN KEY ("tenant_id","group_id") REFERENCES "public"."groups"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "module_grants" ADD CONSTRAINT "module_grants_tenant_id_user_id_users_tenant_id_id_fk" FOREIGN KEY ("tenant_id","user_id") REFERENCES "public"."users"("tenant_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "module_grants" ADD CONSTRAINT "module_grants_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "module_placements" ADD CONSTRAINT "module_placements_tenant_id_tenants_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "module_placements" ADD CONSTRAINT "module_placements_tenant_id_category_id_module_categories_tenant_id_id_fk" FOREIGN KEY ("tenant_id","category_id") REFERENCES "public"."module_categories"("tenant_id","id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "custom_modules_owner" ON "custom_modules" USING btree ("tenant_id","owner_user_id");--> statement-breakpoint
CREATE INDEX "custom_modules_category" ON "custom_modules" USING btree ("tenant_id","category_id");--> statement-breakpoint
CREATE INDEX "group_members_user" ON "group_members" USING btree ("tenant_id","user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "groups_directory_id_unique" ON "groups" USING btree ("tenant_id","directory_id");--> statement-breakpoint
CREATE UNIQUE INDEX "groups_name_unique" ON "groups" USING btree ("tenant_id",lower("internal_name")) WHERE directory_id is null;--> statement-breakpoint
CREATE UNIQUE INDEX "module_categories_key_unique" ON "module_categories" USING btree ("tenant_id","key");--> statement-breakpoint
CREATE UNIQUE INDEX "module_categories_name_unique" ON "module_categories" USING btree ("tenant_id",lower("name"));--> statement-breakpoint
CREATE UNIQUE INDEX "module_grants_group_unique" ON "module_grants" USING btree ("tenant_id","group_id","module_key");--> statement-breakpoint
CREATE UNIQUE INDEX "module_grants_user_unique" ON "module_grants" USING btree ("tenant_id","user_id","module_key");--> statement-breakpoint
CREATE INDEX "module_placements_category" ON "module_placements" USING btree ("tenant_id","category_id");--> statement-breakpoint
CREATE POLICY "tenant" ON "custom_modules" AS PERMISSIVE FOR ALL TO "portal_app" USING ("custom_modules"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("custom_modules"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "custom_modules" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "disabled_modules" AS PERMISSIVE FOR ALL TO "portal_app" USING ("disabled_modules"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("disabled_modules"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "disabled_modules" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "group_members" AS PERMISSIVE FOR ALL TO "portal_app" USING ("group_members"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("group_members"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "group_members" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "groups" AS PERMISSIVE FOR ALL TO "portal_app" USING ("groups"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("groups"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "groups" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "module_categories" AS PERMISSIVE FOR ALL TO "portal_app" USING ("module_categories"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("module_categories"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "module_categories" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "module_grants" AS PERMISSIVE FOR ALL TO "portal_app" USING ("module_grants"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("module_grants"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "module_grants" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);--> statement-breakpoint
CREATE POLICY "tenant" ON "module_placements" AS PERMISSIVE FOR ALL TO "portal_app" USING ("module_placements"."tenant_id" = (select current_setting('portal.tenant')::uuid)) WITH CHECK ("module_placements"."tenant_id" = (select current_setting('portal.tenant')::uuid));--> statement-breakpoint
CREATE POLICY "across" ON "module_placements" AS PERMISSIVE FOR ALL TO "portal_across" USING (true) WITH CHECK (true);